"""Where the links of an alert lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

_PLACE = "https://davylamp.example.com"
DASHBOARD = "davylamp-target"
NODES_DASHBOARD = "davylamp-nodes"
MONITOR_DASHBOARD = "davylamp-monitor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The bases: of the folder of runbooks, and of Grafana."""

    runbooks: str = f"{_PLACE}/runbooks"
    dashboards: str = f"{_PLACE}/grafana"

    def runbook(self, alert: str) -> str:
        """Return the page that says what to do."""
        return f"{self.runbooks.rstrip('/')}/{alert}.md"

    def dashboard(self, labels: Sequence[str], uid: str = DASHBOARD) -> str:
        """Return a dashboard, at what the alert's labels name."""
        chosen = "&".join(f"var-{quote(label)}={{{{ $labels.{label} }}}}" for label in labels)
        base = f"{self.dashboards.rstrip('/')}/d/{uid}"
        return f"{base}?{chosen}" if chosen else base


def evidence(metric: str, labels: Sequence[str]) -> str:
    """Return a link to the series an alert rests on, in the Prometheus that fired it.

    ``metric`` may be several names with ``|`` between: the labels tell which of them it is.
    """
    named = [f"{label}=%q" for label in labels]
    if "|" in metric:
        metric, named = "", [f'__name__=~"{metric}"', *named]
    chosen = f"{metric}{{{','.join(named)}}}" if named else metric
    values = "".join(f" $labels.{label}" for label in labels)
    return f"{{{{ $externalURL }}}}{{{{ printf `{chosen}`{values} | graphLink }}}}"
