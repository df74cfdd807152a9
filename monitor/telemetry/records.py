"""What goes to a collector, before it is in anybody's format: no text, credential or tenant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from monitor.model import Outcome
from monitor.telemetry.names import Measure

Value = str | bool | int | float | tuple[str, ...]
Attributes = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where a target is: the engine that speaks to it, and the host and port it is sent to."""

    provider: str
    address: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """One span. Times are nanoseconds since 1970; one without a ``parent`` is a trial's own."""

    name: str
    trace_id: int
    span_id: int
    parent: int | None
    start_ns: int
    end_ns: int
    attributes: Attributes
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """One event, in the span ``span_id`` if there is one. ``at_ns`` is nanoseconds since 1970."""

    name: str
    trace_id: int | None
    span_id: int | None
    at_ns: int
    attributes: Attributes
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One number measured of an exchange: seconds or tokens."""

    measure: Measure
    value: float
    attributes: Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """All there is to tell of one trial and its verdict."""

    spans: tuple[SpanRecord, ...] = ()
    events: tuple[EventRecord, ...] = ()
    measurements: tuple[Measurement, ...] = ()
