"""Plan and run one probe against a model that needs no network, for the tests of probes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random

from monitor.model import Exchange, Verdict
from monitor.probes.base import Impossible, Probe, TargetView, TenantView, TrialPlan
from tests.builders import Bench
from tests.fakes.session import Answer, FakeSession, perfect

TENANTS = tuple(TenantView(name=f"tenant-{c}", isolation=f"tenant-{c}") for c in "ab")
VIEW = TargetView(name="t", model="m", tenants=TENANTS, gentle=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One trial that was carried out: its exchanges in order, and who judges them."""

    plan: TrialPlan
    bench: Bench
    exchanges: list[Exchange]

    def verdict(self) -> Verdict:
        """Judge all exchanges."""
        named = {"probe": self.plan.probe, "shape": self.plan.shape, "stratum": self.plan.stratum}
        return self.bench.judge(*self.exchanges, **named)

    def compared(self, comparison: str) -> list[Exchange]:
        """Return the exchanges that are compared with another one in this way."""
        return [e for e in self.exchanges if e.expectation.comparison == comparison]


def planned(probe: Probe, view: TargetView = VIEW, **params) -> list[TrialPlan]:
    return [p for p in _plan(probe, view, params) if isinstance(p, TrialPlan)]


def impossible(probe: Probe, view: TargetView = VIEW, **params) -> list[Impossible]:
    return [p for p in _plan(probe, view, params) if isinstance(p, Impossible)]


def _plan(probe: Probe, view: TargetView, params) -> list[TrialPlan | Impossible]:
    return probe.plan(view, probe.params.model_validate(params), Random(3))


def ran(
    probe: Probe,
    plan: TrialPlan,
    answer: Answer = perfect,
    view: TargetView = VIEW,
    *,
    counts: bool = False,
) -> Ran:
    bench = Bench()
    session = FakeSession(bench=bench, plan=plan, target=view, answer=answer, counts=counts)
    asyncio.run(probe.run(plan, session))
    return Ran(plan=plan, bench=bench, exchanges=sorted(session.exchanges, key=lambda e: e.index))
