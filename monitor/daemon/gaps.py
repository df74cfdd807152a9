"""Which strata of a target nobody looks at now, by plan and by what happened last."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from monitor.conventions import NotProbed as NotProbedCode
from monitor.planning import NotProbed
from monitor.sinks import PrometheusSink


class Gaps:
    """The gaps of all targets, shown as metrics whenever they change."""

    def __init__(self, counters: PrometheusSink) -> None:
        self._counters = counters
        self._planned: dict[str, tuple[NotProbed, ...]] = {}
        self._met: dict[str, dict[tuple[str, str], NotProbed]] = {}

    def planned(
        self, target: str, gaps: Sequence[NotProbed], strata: Collection[tuple[str, str]]
    ) -> None:
        """Replace what the plan of a target leaves out; ``strata`` are what it asks.

        What was met in a stratum that is asked no more will never be looked at: it is no gap of
        this plan.
        """
        self._planned[target] = tuple(gaps)
        met = self._met.get(target, {})
        self._met[target] = {key: gap for key, gap in met.items() if key in strata}
        self._show(target)

    def opened(self, target: str, gap: NotProbed) -> None:
        """Note that a trial that was due could not be sent, or got no answer."""
        self._met.setdefault(target, {})[gap.probe, gap.stratum] = gap
        self._show(target)

    def closed(self, target: str, probe: str, stratum: str) -> None:
        """Note that a stratum was looked at."""
        if self._met.get(target, {}).pop((probe, stratum), None) is not None:
            self._show(target)

    def _show(self, target: str) -> None:
        gaps = (*self._planned.get(target, ()), *self._met.get(target, {}).values())
        # A prompt that is set aside is no gap of its stratum; it is counted in a gauge of its own.
        every = [gap for gap in gaps if gap.code is not NotProbedCode.QUARANTINED]
        self._counters.set_not_probed(target, [(gap.probe, gap.stratum, gap.code) for gap in every])
