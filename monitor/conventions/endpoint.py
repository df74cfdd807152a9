"""What ``GET /probe`` answers with: a page of its own, not part of ``/metrics``."""

from __future__ import annotations

from monitor.conventions.metric import L, Metric, MetricKind, gauge


def _blackbox(name: str, text: str) -> Metric:
    """Return a metric of the blackbox exporter, which has no prefix of ours and no labels."""
    return Metric(name=name, kind=MetricKind.GAUGE, help=text, labels=())


PROBE_SUCCESS = _blackbox(
    "probe_success", "1 if every last verdict that was asked for is known and good, else 0."
)
PROBE_DURATION = _blackbox(
    "probe_duration_seconds", "How long the trials of the last verdicts took, the longest of them."
)
PROBE_KNOWN = gauge(
    "probe_known", "0 if a last verdict could not tell, is too old or missing: success is 0 then."
)
PROBE_VERDICT_AGE = gauge(
    "probe_verdict_age_seconds", "How long ago a probe of a target last had a verdict.", L.PROBE
)
PROBE_VERDICT_INFO = gauge(
    "probe_verdict_info",
    "Always 1; how the last verdict of a probe stands.",
    *(L.PROBE, L.STRATUM, L.STATE, L.CLASS),
)
