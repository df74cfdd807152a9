"""What arrives at a real collector over HTTP, decoded from protobuf; and collectors that do not."""

from __future__ import annotations

import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

import monitor
from monitor.model import Outcome, VerdictClass
from monitor.telemetry.describing import span_id, trace_id
from monitor.telemetry.names import NAMES
from tests.fakes.collector import Collector, collecting, plain
from tests.unit.cli.certificate import self_signed
from tests.unit.store.samples import SECRETS, trial, verdict
from tests.unit.telemetry.telling import CURRENT, OLDER, TOKEN, describing, exporter

TOLD = describing().told(trial(), verdict())


def send_all(collector: Collector, version: str = CURRENT) -> None:
    sender = exporter(collector, version)
    told = describing(version).told(trial(), verdict())
    assert sender.send_spans(told.spans)
    assert sender.send_events(told.events)
    sender.measure(told.measurements)
    assert sender.send_metrics()
    assert not sender.trouble
    sender.close()


def test_spans_arrive_with_their_ids_times_kinds_and_status() -> None:
    with collecting() as collector:
        send_all(collector)
    whole, first, second = collector.spans
    assert whole.trace_id == trace_id("trial-glm-1").to_bytes(16)
    assert whole.span_id == span_id("trial-glm-1").to_bytes(8)
    assert first.span_id == span_id("trial-glm-1", 0).to_bytes(8)
    assert not whole.parent_span_id
    assert {first.parent_span_id, second.parent_span_id} == {whole.span_id}
    assert {first.trace_id, second.trace_id} == {whole.trace_id}
    assert (whole.kind, first.kind) == (Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_CLIENT)
    for sent, record in zip(collector.spans, TOLD.spans, strict=True):
        assert (sent.start_time_unix_nano, sent.end_time_unix_nano) == (
            record.start_ns,
            record.end_ns,
        )
        assert sent.name == record.name
        assert plain(sent.attributes) == {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in record.attributes.items()
        }
    assert [each.status.code for each in collector.spans] == [
        Status.STATUS_CODE_ERROR,
        Status.STATUS_CODE_UNSET,
        Status.STATUS_CODE_UNSET,
    ]


def test_a_verdict_arrives_as_an_event_in_the_span_of_its_trial() -> None:
    with collecting() as collector:
        send_all(collector)
    (event,) = collector.events
    (record,) = TOLD.events
    assert event.event_name == "gen_ai.evaluation.result"
    assert (event.trace_id, event.span_id) == (
        collector.spans[0].trace_id,
        collector.spans[0].span_id,
    )
    assert (event.time_unix_nano, event.severity_number) == (record.at_ns, 17)
    assert plain(event.attributes) == dict(record.attributes)
    assert not event.body.WhichOneof("value")


def test_a_verdict_without_a_trial_arrives_in_no_span() -> None:
    with collecting() as collector:
        sender = exporter(collector)
        assert sender.send_events(describing().told(trial(), verdict(source="stream")).events)
        sender.close()
    (event,) = collector.events
    assert not event.trace_id
    assert not event.span_id


@pytest.mark.parametrize(
    ("outcome", "severity"),
    [(Outcome.GOOD, 9), (Outcome.BAD, 17), (Outcome.ERROR, 13), (Outcome.INVALID, 13)],
)
def test_how_severe_an_event_is(outcome: Outcome, severity: int) -> None:
    judged = verdict(outcome=outcome, verdict_class=VerdictClass.NONE)
    with collecting() as collector:
        sender = exporter(collector)
        assert sender.send_events(describing().told(trial(), judged).events)
        sender.close()
    assert [event.severity_number for event in collector.events] == [severity]


def points(metric: Any) -> list[Any]:
    return list(getattr(metric, metric.WhichOneof("data")).data_points)


def test_metrics_of_the_current_names() -> None:
    with collecting() as collector:
        send_all(collector)
    found = collector.metrics
    assert set(found) == {each.name for each in NAMES[CURRENT].instruments}
    (duration,) = points(found["gen_ai.client.inference.duration"])
    assert (duration.count, duration.sum) == (2, 3.0)
    assert list(duration.explicit_bounds) == [0.01 * 2**power for power in range(14)]
    assert plain(duration.attributes)["davylamp.target"] == "glm"
    (tokens,) = points(found["gen_ai.client.inference.usage.input_tokens"])
    assert tokens.as_int == 40
    assert plain(tokens.attributes)["gen_ai.token.modality"] == "text"
    assert found["gen_ai.client.inference.usage.input_tokens"].sum.is_monotonic
    (size,) = points(found["gen_ai.client.inference.operation.output_tokens"])
    assert (size.count, size.sum) == (1, 7)
    assert "gen_ai.token.modality" not in plain(size.attributes)


def test_metrics_of_the_older_names() -> None:
    with collecting() as collector:
        send_all(collector, OLDER)
    found = collector.metrics
    assert set(found) == {each.name for each in NAMES[OLDER].instruments}
    usage = points(found["gen_ai.client.token.usage"])
    assert {plain(p.attributes)["gen_ai.token.type"]: p.sum for p in usage} == {
        "input": 40,
        "output": 7,
    }
    (scope,) = collector.metric_requests[0].resource_metrics[0].scope_metrics
    assert scope.schema_url == "https://opentelemetry.io/schemas/1.41.0"


def test_metrics_add_up_over_reports() -> None:
    with collecting() as collector:
        sender = exporter(collector)
        for expected in (2, 4):
            sender.measure(TOLD.measurements)
            assert sender.send_metrics()
            (duration,) = points(collector.metrics["gen_ai.client.inference.duration"])
            assert duration.count == expected
        sender.close()


def test_who_tells_is_said_once_and_nothing_of_the_machine() -> None:
    with collecting() as collector:
        send_all(collector)
    resource = plain(collector.traces[0].resource_spans[0].resource.attributes)
    assert resource == {
        "service.name": "davylamp",
        "service.version": monitor.__version__,
        "service.instance.id": "process-1",
        "deployment.environment.name": "prod",
    }
    scope = collector.logs[0].resource_logs[0].scope_logs[0].scope
    assert (scope.name, scope.version) == ("davylamp", monitor.__version__)


def test_the_token_is_in_the_header_and_no_secret_anywhere_else() -> None:
    with collecting() as collector:
        send_all(collector)
    assert collector.paths == ["/v1/traces", "/v1/logs", "/v1/metrics"]
    for headers in collector.headers:
        assert headers["authorization"] == f"Bearer {TOKEN}"
        assert headers["x-scope"] == "team-a"
        assert headers["content-type"] == "application/x-protobuf"
    bodies = "\n".join(body.decode("utf-8", "replace") for body in collector.bodies)
    assert not [each for each in (*SECRETS, TOKEN, "victim-b", "donor-a") if each in bodies]


def test_nothing_of_the_environment_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector, collecting() as other:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-other=secret-of-another-collector")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-third=secret-of-another")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", other.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere.pem")
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "host=secret-of-another")
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
        monkeypatch.setenv("HTTP_PROXY", other.url)
        send_all(collector)
    assert not other.paths
    assert "secret-of-another" not in collector.text()
    assert len(collector.spans) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 500])
def test_a_refusal_is_not_tried_again_and_named_by_its_status(status: int) -> None:
    with collecting() as collector:
        collector.status, collector.body = status, b"what you sent was " + TOKEN.encode()
        sender = exporter(collector)
        assert not sender.send_spans(TOLD.spans)
        assert sender.trouble == f"HTTP {status}"
        assert len(collector.paths) == 1
        collector.status = 200
        assert sender.send_spans(TOLD.spans)
        assert len(collector.spans) == 3, "what was refused is not sent again"
        sender.close()


def test_a_redirect_is_not_followed() -> None:
    with collecting() as collector, collecting() as other:
        collector.status = 307
        collector.answer = {"location": f"{other.url}/v1/traces"}
        exporter(collector).send_spans(TOLD.spans)
    assert collector.paths == ["/v1/traces"]
    assert not other.paths


def test_a_busy_collector_is_tried_again_when_it_says() -> None:
    with collecting() as collector:
        collector.status, collector.answer = 503, {"retry-after": "0"}
        sender = exporter(collector)
        assert not sender.send_events(TOLD.events)
        assert len(collector.paths) == 6
        sender.close()


def test_a_collector_that_hangs_costs_its_timeout() -> None:
    with collecting() as collector:
        collector.hanging = True
        sender = exporter(collector, timeout_seconds=0.3)
        assert not sender.send_spans(TOLD.spans)
        assert sender.trouble == "no answer"
        sender.close()


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    sender = exporter(f"http://127.0.0.1:{port}", timeout_seconds=0.3)
    assert not sender.send_spans(TOLD.spans)
    assert sender.trouble == "no answer"
    sender.close()


@pytest.mark.parametrize("trusted", [True, False])
def test_only_a_collector_that_is_trusted_is_told(trusted: bool, tmp_path: Path) -> None:
    certified = self_signed(tmp_path, timedelta(days=1))
    with collecting(certified) as collector:
        ca_file = str(certified[0]) if trusted else None
        sender = exporter(collector, timeout_seconds=2.0, ca_file=ca_file)
        assert sender.send_spans(TOLD.spans) is trusted
        assert bool(sender.trouble) is not trusted
        sender.close()
    assert len(collector.spans) == (3 if trusted else 0)
    assert bool(collector.headers) is trusted, "no token goes to a stranger"


def test_an_endless_answer_is_not_read() -> None:
    with collecting() as collector:
        collector.body = b"x" * 50_000_000
        sender = exporter(collector)
        assert sender.send_spans(TOLD.spans)
        assert not collector.read_to_the_end
        sender.close()
