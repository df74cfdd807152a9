"""Metrics of streams: evidence, thresholds and alarms."""

from __future__ import annotations

from enum import StrEnum

from monitor.conventions.metric import TARGET, L, counter, gauge


class AlarmTier(StrEnum):
    """Whom an alarm calls: a ticket waits for working hours, a page wakes somebody."""

    TICKET = "ticket"
    PAGE = "page"


class NotWatched(StrEnum):
    """Why a stream cannot raise an alarm: shown, and never green."""

    TOLERANCE = "tolerance"
    NOT_PLANNED = "not_planned"
    WEIGHT = "weight"


# Of a lane that pages: two of evidence and validity, and three for each tier.
LANE_SERIES = 8
_STREAM = (*TARGET, L.PROBE, L.STRATUM, L.LANE)

ALARM_ACTIVE = gauge(
    "alarm_active",
    "1 while a stream's alarm of this tier is not over; 0 for every stream that can raise one.",
    *(*_STREAM, L.TIER),
)
ALARMS = counter(
    "alarms_total",
    "Alarms that a stream raised, by tier, also before the last start.",
    *(*_STREAM, L.TIER),
)
SLO_EVIDENCE = gauge(
    "slo_evidence",
    "The evidence that a stream fails more often than it may; alarms are raised at its threshold.",
    *_STREAM,
)
SLO_EVIDENCE_THRESHOLD = gauge(
    "slo_evidence_threshold",
    "The evidence at which a stream raises an alarm of this tier.",
    *(*_STREAM, L.TIER),
)
STREAM_VALID_RATIO = gauge(
    "stream_valid_ratio",
    "The share of a stream's last 256 trials that gave a score; absent before the first.",
    *_STREAM,
)
STREAMS_NOT_WATCHED = gauge(
    "streams_not_watched",
    "Streams that cannot raise an alarm, and why.",
    *(*TARGET, L.LANE, L.REASON),
)
STATES_REFUSED = counter(
    "detector_states_refused_total",
    "States of streams that were kept and cannot be read: their evidence began anew.",
    L.ENV,
)
