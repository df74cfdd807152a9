"""What a sink is: it is told of every verdict once, and changes nothing."""

from __future__ import annotations

from typing import Protocol

from monitor.model import Trial, Verdict


class Sink(Protocol):
    """Whoever is told. No sink may let an answer, a prompt or a credential out of its hands.

    A verdict of a stream or a node (``source``) belongs to no trial: the one that comes with it has
    neither id nor exchanges.
    """

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Take a verdict; once this returns it is acknowledged."""

    def close(self) -> None:
        """Finish what was taken; safe to call twice."""


def no_trial(verdict: Verdict) -> Trial:
    """Return what stands for the trial of a verdict that belongs to none."""
    return Trial(
        id="",
        target=verdict.target,
        model=verdict.model,
        probe=verdict.probe,
        shape=verdict.shape,
        stratum=verdict.stratum,
        started_at=verdict.decided_at,
        exchanges=(),
        purpose="",
        scheduled=False,
    )
