"""Tells a collector by OTLP over HTTP, with OpenTelemetry's SDK, which is imported here alone.

The SDK makes spans, events and metrics of our records and writes them as protobuf; when, and what
is lost, is decided in ``sink``. Its queues, threads and handlers at exit are not used, and of its
environment variables none but ``OTEL_SDK_DISABLED`` has an effect: what is told to whom is the
configuration's business, and headers meant for another collector must not go to this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import monitor
from monitor.conventions.metric import MetricKind
from monitor.conventions.telemetry import TelemetryKind
from monitor.model import Outcome
from monitor.telemetry.names import Key, Measure, Names
from monitor.telemetry.records import Attributes, EventRecord, Measurement, SpanRecord

if TYPE_CHECKING:
    import requests
    from opentelemetry.context import Context
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.resources import Resource

_SCOPE = "davylamp"
_OWN_HEADERS = frozenset({"content-type", "content-encoding", "content-length", "user-agent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Where a collector is and what it wants to see. ``headers`` hold credentials."""

    endpoint: str
    headers: Mapping[str, str] = field(repr=False)
    ca_file: str | None
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who tells: the environment, and this run of Davylamp."""

    environment: str
    instance: str


class OtlpExporter:
    """Makes and sends; each method that sends waits for the collector, at most for its timeout.

    One thread may send. Measuring is quick and may be done by another.
    """

    def __init__(self, collector: Collector, origin: Origin, names: Names) -> None:
        self._line = _Line(collector)
        resource = _resource(origin)
        self._traces = _Traces(resource, names, self._line)
        self._events = _Events(resource, names, self._line)
        self._metrics = _Metrics(resource, names, self._line)

    @property
    def trouble(self) -> str:
        """Why the collector did not take the last it was sent, as far as known; a code of ours."""
        return self._line.trouble

    def send_spans(self, records: Sequence[SpanRecord]) -> bool:
        """Send spans; true if the collector took them."""
        return self._line.sent(lambda: self._traces.export(records))

    def send_events(self, records: Sequence[EventRecord]) -> bool:
        """Send events; true if the collector took them."""
        return self._line.sent(lambda: self._events.export(records))

    def measure(self, measurements: Sequence[Measurement]) -> None:
        """Add to the sums and histograms that ``send_metrics`` sends."""
        self._metrics.add(measurements)

    def send_metrics(self) -> bool:
        """Send all sums and histograms as they stand; true if the collector took them."""
        return self._line.sent(self._metrics.export)

    def reaches(self, kind: TelemetryKind) -> bool:
        """Send nothing of a kind, to see whether the collector would take it."""
        sends: dict[TelemetryKind, Callable[[], bool]] = {
            TelemetryKind.SPANS: lambda: self._traces.export(()),
            TelemetryKind.EVENTS: lambda: self._events.export(()),
            TelemetryKind.METRICS: self._metrics.export_none,
        }
        return self._line.sent(sends[kind])

    def close(self) -> None:
        """Send no more; a wait between two attempts ends at once."""
        for each in (self._traces, self._events, self._metrics):
            each.exporter.shutdown()


class _Line:
    """One HTTP session to a collector, which reads no answer but its status."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self.session = _session(self._dressed, self._answered)
        self.trouble = ""

    def exporter(self, kind: Callable[..., Any], path: str) -> Any:
        """Return an exporter of the SDK over this line."""
        from opentelemetry.exporter.otlp.proto.http import Compression

        made = kind(
            endpoint=f"{self._collector.endpoint}/v1/{path}",
            timeout=self._collector.timeout_seconds,
            compression=Compression.Gzip,
            session=self.session,
        )
        # The SDK has just set both, by its environment variables.
        self.session.verify, self.session.cert = self._collector.ca_file or True, None
        return made

    def sent(self, send: Callable[[], bool]) -> bool:
        """Send, and note why it went wrong."""
        self.trouble = "no answer"
        taken = send()
        if taken:
            self.trouble = ""
        return taken

    def _dressed(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Give a request our headers, and none that the SDK found in its environment."""
        for name in [each for each in request.headers if each.lower() not in _OWN_HEADERS]:
            del request.headers[name]
        request.headers.update(self._collector.headers)
        return request

    def _answered(self, response: requests.Response, **_: object) -> None:
        """Note the status; closed here, before it is read, the rest of an answer costs nothing."""
        self.trouble = f"HTTP {response.status_code}"
        response.close()


def _session(
    dressed: Callable[[requests.PreparedRequest], requests.PreparedRequest],
    answered: Callable[..., None],
) -> requests.Session:
    import requests

    session = requests.Session()
    session.trust_env = False  # no proxy, no .netrc
    session.auth = dressed
    session.hooks["response"] = [answered]
    return session


def _resource(origin: Origin) -> Resource:
    from opentelemetry.sdk.resources import Resource

    return Resource(
        {
            Key.SERVICE_NAME.value: "davylamp",
            Key.SERVICE_VERSION.value: monitor.__version__,
            Key.SERVICE_INSTANCE.value: origin.instance,
            Key.ENVIRONMENT.value: origin.environment,
        }
    )


class _Ids:
    """The ids of the next span, in the form the SDK asks for them."""

    def __init__(self) -> None:
        self.trace = self.span = 0

    def generate_trace_id(self) -> int:
        """Return the trace of the next span."""
        return self.trace

    def generate_span_id(self) -> int:
        """Return the id of the next span."""
        return self.span

    def is_trace_id_random(self) -> bool:
        """Half a SHA-256 of a random id is."""
        return True


class _Traces:
    def __init__(self, resource: Resource, names: Names, line: _Line) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import SpanLimits, TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from opentelemetry.sdk.trace.sampling import ALWAYS_ON

        self.exporter = line.exporter(OTLPSpanExporter, "traces")
        self._ids = _Ids()
        self._made = InMemorySpanExporter()
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=resource,
            shutdown_on_exit=False,
            id_generator=self._ids,  # type: ignore[arg-type] # its class is imported late
            span_limits=SpanLimits(),
        )
        provider.add_span_processor(SimpleSpanProcessor(self._made))
        self._tracer = provider.get_tracer(_SCOPE, monitor.__version__, names.schema_url or None)

    def export(self, records: Sequence[SpanRecord]) -> bool:
        from opentelemetry.sdk.trace.export import SpanExportResult

        for record in records:
            self._make(record)
        spans = self._made.get_finished_spans()
        self._made.clear()
        return bool(self.exporter.export(spans) is SpanExportResult.SUCCESS)

    def _make(self, record: SpanRecord) -> None:
        from opentelemetry.trace import SpanKind, Status, StatusCode

        self._ids.trace, self._ids.span = record.trace_id, record.span_id
        span = self._tracer.start_span(
            record.name,
            context=_within(record.trace_id, record.parent),
            kind=SpanKind.INTERNAL if record.parent is None else SpanKind.CLIENT,
            attributes=record.attributes,
            start_time=record.start_ns,
        )
        if record.failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(record.end_ns)


class _Events:
    def __init__(self, resource: Resource, names: Names, line: _Line) -> None:
        # The SDK's part for events still has a name of its own making: they are log records.
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import (
            InMemoryLogRecordExporter,
            SimpleLogRecordProcessor,
        )

        self.exporter = line.exporter(OTLPLogExporter, "logs")
        self._made = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_log_record_processor(SimpleLogRecordProcessor(self._made))
        self._logger = provider.get_logger(_SCOPE, monitor.__version__, names.schema_url or None)

    def export(self, records: Sequence[EventRecord]) -> bool:
        from opentelemetry.sdk._logs.export import LogRecordExportResult

        for record in records:
            self._make(record)
        events = self._made.get_finished_logs()
        self._made.clear()
        return bool(self.exporter.export(events) is LogRecordExportResult.SUCCESS)

    def _make(self, record: EventRecord) -> None:
        from opentelemetry._logs import SeverityNumber

        severity = {Outcome.GOOD: SeverityNumber.INFO, Outcome.BAD: SeverityNumber.ERROR}
        self._logger.emit(
            timestamp=record.at_ns,
            observed_timestamp=record.at_ns,
            context=_within(record.trace_id, record.span_id),
            severity_number=severity.get(record.outcome, SeverityNumber.WARN),
            attributes=record.attributes,
            event_name=record.name,
        )


class _Metrics:
    def __init__(self, resource: Resource, names: Names, line: _Line) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader

        self.exporter = line.exporter(OTLPMetricExporter, "metrics")
        self._reader = InMemoryMetricReader()
        readers: list[MetricReader] = [self._reader]
        self._provider = MeterProvider(
            metric_readers=readers,
            resource=resource,
            exemplar_filter=AlwaysOffExemplarFilter(),
            shutdown_on_exit=False,
        )
        self._instruments = dict(_instruments(self._provider, names))

    def add(self, measurements: Sequence[Measurement]) -> None:
        for measured in measurements:
            for record, fixed in self._instruments.get(measured.measure, ()):
                record(measured.value, {**measured.attributes, **fixed})

    def export(self) -> bool:
        from opentelemetry.sdk.metrics.export import MetricExportResult

        found = self._reader.get_metrics_data()
        if found is None:
            return True
        return bool(self.exporter.export(found) is MetricExportResult.SUCCESS)

    def export_none(self) -> bool:
        from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData

        none = MetricsData(resource_metrics=[])
        return bool(self.exporter.export(none) is MetricExportResult.SUCCESS)


_Record = Callable[[float, Attributes], None]


def _instruments(
    provider: Any, names: Names
) -> Iterator[tuple[Measure, list[tuple[_Record, dict[str, str]]]]]:
    """Yield how each measure is recorded. Two measures may share a metric of one name."""
    meter = provider.get_meter(_SCOPE, monitor.__version__, names.schema_url or None)
    made: dict[str, _Record] = {}
    for each in names.instruments:
        if each.name in made:
            continue
        if each.kind is MetricKind.COUNTER:
            made[each.name] = meter.create_counter(each.name, each.unit, each.help).add
        else:
            made[each.name] = meter.create_histogram(
                each.name,
                each.unit,
                each.help,
                explicit_bucket_boundaries_advisory=list(each.buckets),
            ).record
    for measure in Measure:
        yield (
            measure,
            [(made[i.name], dict(i.fixed)) for i in names.instruments if i.measure is measure],
        )


def _within(trace: int | None, span: int | None) -> Context:
    """Return the context of what is said within a span, or of what has none around it."""
    from opentelemetry.context import Context
    from opentelemetry.trace import (
        NonRecordingSpan,
        SpanContext,
        TraceFlags,
        set_span_in_context,
    )

    if trace is None or span is None:
        return Context()
    around = SpanContext(
        trace_id=trace,
        span_id=span,
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
    return set_span_in_context(NonRecordingSpan(around), Context())
