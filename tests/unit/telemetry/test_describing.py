"""A trial as spans, an event and measurements: what is said of it, and what never is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

import monitor
from monitor.model import Failure, FailureKind, Outcome, Usage, VerdictClass
from monitor.telemetry.describing import error_type, span_id, trace_id
from monitor.telemetry.names import Measure
from monitor.telemetry.records import Told
from tests.unit.store.samples import NOW, SECRETS, exchange, refused, response, trial, verdict
from tests.unit.telemetry.telling import OLDER, describing

TENANTS = ("victim-b", "donor-a", "lusab-babad-gutih-tugad")


def nanoseconds(seconds: float) -> int:
    return round((NOW.timestamp() + seconds) * 1e6) * 1000


def failed(kind: FailureKind, code: int | None = None) -> Failure:
    return Failure(kind=kind, detail="ours", code=code)


def test_a_trial_is_a_span_and_each_exchange_one_below_it() -> None:
    whole, first, second = describing().told(trial(), verdict()).spans
    assert (whole.name, first.name) == ("probe canary", "chat glm-5.3")
    assert whole.parent is None
    assert {first.parent, second.parent} == {whole.span_id}
    assert len({whole.span_id, first.span_id, second.span_id}) == 3
    assert {each.trace_id for each in (whole, first, second)} == {trace_id("trial-glm-1")}
    assert (first.start_ns, first.end_ns) == (nanoseconds(0), nanoseconds(1.5))
    assert (whole.start_ns, whole.end_ns) == (nanoseconds(1), nanoseconds(1.5))


def test_a_trial_without_exchanges_has_a_span_of_no_length() -> None:
    (whole,) = describing().told(trial(exchanges=()), verdict(exchanges=())).spans
    assert whole.start_ns == whole.end_ns == nanoseconds(1)


def test_ids_follow_from_the_trial_and_differ_from_each_other() -> None:
    ids = {span_id(t, e) for t in ("a", "b", "a/1") for e in (None, 0, 1, 11)}
    assert len(ids) == 12
    assert all(0 < each < 2**64 for each in ids)
    assert 0 < trace_id("a") < 2**128
    assert trace_id("a") != trace_id("b")


def test_what_is_said_of_an_exchange() -> None:
    said = describing().told(trial(), verdict()).spans[1].attributes
    hashed = {key: said[key] for key in ("gen_ai.response.model", "gen_ai.response.id")}
    assert {value.split("-")[0] for value in hashed.values() if isinstance(value, str)} == {
        "hashed"
    }
    assert {k: v for k, v in said.items() if k not in hashed} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "glm-5.3",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": 16,
        "gen_ai.response.finish_reasons": ("other",),
        "gen_ai.response.time_to_first_chunk": 0.25,
        "gen_ai.usage.input_tokens": 40,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "gen_ai.prompt.name": "canary",
        "gen_ai.prompt.version": monitor.__version__,
        "server.address": "gateway.example.com",
        "server.port": 443,
        "davylamp.target": "glm",
        "davylamp.probe": "canary",
        "davylamp.shape": "canary",
        "davylamp.stratum": "short/c1/cold/plain/pair",
        "davylamp.trial": "trial-glm-1",
        "davylamp.scheduled": True,
        "davylamp.exchange": 0,
        "davylamp.part": "victim",
        "davylamp.outcome": "bad",
        "davylamp.class": "LEAK",
    }


def test_a_plain_id_and_model_are_said_as_they_are() -> None:
    plain = exchange(response=response(model="glm-5.3-0915", response_id="chatcmpl-1"))
    said = describing().told(trial(exchanges=(plain,)), verdict()).spans[1].attributes
    assert said["gen_ai.response.model"] == "glm-5.3-0915"
    assert said["gen_ai.response.id"] == "chatcmpl-1"


def test_a_golden_prompt_has_its_own_name_and_version_which_the_older_names_lack() -> None:
    golden = replace(
        exchange(), expectation=replace(exchange().expectation, golden="rivers", golden_version="3")
    )
    said = describing().told(trial(exchanges=(golden,)), verdict()).spans[1].attributes
    assert (said["gen_ai.prompt.name"], said["gen_ai.prompt.version"]) == ("rivers", "3")
    older = describing(OLDER).told(trial(exchanges=(golden,)), verdict()).spans[1].attributes
    assert older["gen_ai.prompt.name"] == "rivers"
    assert "gen_ai.prompt.version" not in older


def test_what_a_confirmation_confirms_is_said() -> None:
    whole = describing().told(trial(confirms="F-7", replays="trial-0"), verdict()).spans[0]
    assert whole.attributes["davylamp.confirms"] == "F-7"
    assert whole.attributes["davylamp.replays"] == "trial-0"


@pytest.mark.parametrize(
    ("outcome", "verdict_class", "score", "label", "error"),
    [
        (Outcome.GOOD, VerdictClass.NONE, 1.0, "none", None),
        (Outcome.GOOD, VerdictClass.SUSPECT, 1.0, "SUSPECT", None),
        (Outcome.BAD, VerdictClass.LEAK, 0.0, "LEAK", None),
        (Outcome.ERROR, VerdictClass.NONE, None, None, "error"),
        (Outcome.INVALID, VerdictClass.NONE, None, None, "invalid"),
    ],
)
def test_a_verdict_that_could_not_tell_has_no_score(
    outcome: Outcome,
    verdict_class: VerdictClass,
    score: float | None,
    label: str | None,
    error: str | None,
) -> None:
    judged = verdict(outcome=outcome, verdict_class=verdict_class, finding="F-1")
    told = describing().told(trial(), judged)
    (event,) = told.events
    said = event.attributes
    assert event.name == "gen_ai.evaluation.result"
    assert (event.trace_id, event.span_id) == (told.spans[0].trace_id, told.spans[0].span_id)
    assert event.at_ns == nanoseconds(3)
    assert said["gen_ai.evaluation.name"] == "canary"
    assert said.get("gen_ai.evaluation.score.value") == score
    assert said.get("gen_ai.evaluation.score.label") == label
    assert said.get("error.type") == error
    assert said["gen_ai.evaluation.explanation"] == judged.reason
    assert said["davylamp.outcome"] == outcome.value
    assert (said["davylamp.verdict"], said["davylamp.finding"]) == ("verdict-glm-1", "F-1")
    assert told.spans[0].failed is (outcome is not Outcome.GOOD)


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (failed(FailureKind.TIMEOUT), "timeout"),
        (failed(FailureKind.CONNECT), "connect"),
        (failed(FailureKind.CUT_STREAM), "cut_stream"),
        (failed(FailureKind.HTTP_STATUS, 429), "429"),
        (failed(FailureKind.HTTP_STATUS, 999), "other"),
        (failed(FailureKind.REFUSED, 400), None),
        (failed(FailureKind.CANCELLED), None),
        (None, None),
    ],
)
def test_an_error_has_one_of_few_types(failure: Failure | None, error: str | None) -> None:
    assert error_type(failure) == error
    asked = exchange(failure=failure)
    told = describing().told(trial(exchanges=(asked,)), verdict())
    assert told.spans[1].failed is (error is not None)
    assert told.spans[1].attributes.get("error.type") == error
    assert told.spans[1].attributes.get("davylamp.failure") == (failure.kind if failure else None)
    (duration,) = (m for m in told.measurements if m.measure is Measure.DURATION)
    assert duration.attributes.get("error.type") == error


def test_what_is_measured() -> None:
    told = describing().told(trial(), verdict())
    assert [(m.measure, m.value) for m in told.measurements] == [
        (Measure.DURATION, 1.5),
        (Measure.FIRST_CHUNK, 0.25),
        (Measure.INPUT, 40),
        (Measure.OUTPUT, 7),
        (Measure.CACHED, 0),
        (Measure.REASONING, 2),
        (Measure.DURATION, 1.5),
        (Measure.FIRST_CHUNK, 0.25),
    ]
    assert told.measurements[0].attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "glm-5.3",
        "server.address": "gateway.example.com",
        "server.port": 443,
        "davylamp.target": "glm",
    }


def test_made_up_token_counts_stay_within_what_can_be_added_up_and_sent() -> None:
    usage = Usage(input_tokens=2**70, output_tokens=-(2**70), cached_tokens=-1)
    told = describing().told(
        trial(exchanges=(exchange(response=response(usage=usage)),)), verdict()
    )
    counted = {m.measure: m.value for m in told.measurements}
    assert counted[Measure.INPUT] == 10**9
    assert not counted.keys() & {Measure.OUTPUT, Measure.CACHED}
    said = told.spans[1].attributes
    assert said["gen_ai.usage.input_tokens"] == 2**63 - 1
    assert said["gen_ai.usage.output_tokens"] == -(2**63) + 1


@pytest.mark.parametrize("source", ["stream", "scan"])
def test_what_we_did_not_send_is_an_event_alone(source: str) -> None:
    told = describing().told(trial(), verdict(source=source, probe=""))
    assert not told.spans
    assert not told.measurements
    (event,) = told.events
    assert event.trace_id is event.span_id is None
    assert event.attributes["gen_ai.evaluation.name"] == source
    assert event.attributes["davylamp.source"] == source


def test_a_target_that_is_not_configured_has_no_place() -> None:
    told = describing().told(trial(target="other"), verdict(target="other"))
    assert not any("server.address" in span.attributes for span in told.spans)


def test_no_text_credential_or_tenant_is_in_any_record() -> None:
    loud = exchange(2, failure=Failure(kind=FailureKind.CUT_STREAM, detail=SECRETS[12]))
    said = trial(exchanges=(exchange(0), refused(1), loud), purpose=SECRETS[0], broken=SECRETS[1])
    told: Told = describing().told(said, verdict())
    found = [each for each in (*SECRETS, *TENANTS) if each in repr(told)]
    assert not found


def test_times_are_exact_to_the_microsecond() -> None:
    late = NOW + timedelta(microseconds=123_457)
    told = describing().told(trial(started_at=late, exchanges=()), verdict())
    assert told.spans[0].start_ns % 10**9 == 373_457_000
