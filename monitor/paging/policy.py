"""Which finding wakes somebody, which is a ticket, which is neither; and who tells people of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from monitor.config import Config
from monitor.config.pages import Window
from monitor.conventions.pages import Route, Severity
from monitor.findings import Finding, FindingState
from monitor.model import VerdictClass

# Proven from the first answer, and never to wait: not even for the end of a maintenance.
ALWAYS_PAGED = frozenset({VerdictClass.LEAK, VerdictClass.CROSSED})
# Of these some kinds page on the first event: see ``Finding.urgent``.
_URGENT_CLASSES = frozenset({VerdictClass.WRONG_INPUT, VerdictClass.UNSAFE_NODE})
# A ticket on the first event, a page once the fault was shown again on purpose.
_PAGED_WHEN_REPRODUCED = frozenset({VerdictClass.WRONG_INPUT, VerdictClass.CORRUPT})


def severity_of(finding: Finding) -> Severity:
    """Return what an open finding asks for; none if nothing is proven, or it is closed."""
    if not finding.is_open or not _asks(finding.verdict_class, finding.state):
        return Severity.NONE
    if finding.verdict_class in ALWAYS_PAGED:
        return Severity.CRITICAL
    urgent = finding.urgent and finding.verdict_class in _URGENT_CLASSES
    again = finding.reproduced > 0 and finding.verdict_class in _PAGED_WHEN_REPRODUCED
    return Severity.CRITICAL if urgent or again else Severity.WARNING


def severities_of(verdict_class: VerdictClass, state: FindingState) -> tuple[Severity, ...]:
    """Return every severity that open findings of a class and state can have."""
    if not _asks(verdict_class, state):
        return (Severity.NONE,)
    if verdict_class in ALWAYS_PAGED:
        return (Severity.CRITICAL,)
    if verdict_class in _URGENT_CLASSES | _PAGED_WHEN_REPRODUCED:
        return (Severity.WARNING, Severity.CRITICAL)
    return (Severity.WARNING,)


def _asks(verdict_class: VerdictClass, state: FindingState) -> bool:
    return state is FindingState.CONFIRMED and verdict_class > VerdictClass.WRONG


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePolicy:
    """The one route of each class, and when pages wait."""

    routes: Mapping[str, Route]
    windows: tuple[Window, ...] = ()

    def route_of(self, verdict_class: VerdictClass) -> Route:
        """Return who tells people of findings of a class."""
        return self.routes.get(verdict_class.label, Route.ALERTMANAGER)

    def is_direct(self, finding: Finding) -> bool:
        """Return true if Davylamp itself tells people of a finding as it stands."""
        asks = severity_of(finding) is not Severity.NONE
        return asks and self.route_of(finding.verdict_class) is Route.DIRECT

    def holds(self, finding: Finding, now: datetime) -> bool:
        """Return true if a page of a finding waits for the end of a maintenance."""
        if finding.verdict_class in ALWAYS_PAGED:
            return False
        return any(window.holds(finding.target, now) for window in self.windows)


def policy_of(config: Config) -> PagePolicy:
    """Return the policy of a configuration: without a receiver every route is Alertmanager's."""
    pages = config.settings.pages
    direct = pages.routes.by_class() if pages.receivers else {}
    return PagePolicy(
        routes={name: Route(route) for name, route in direct.items()}, windows=pages.windows
    )
