"""Every tenant is asked both ways of what alternates, however many there are."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from monitor.planning import plan_pass, profile_choices
from monitor.probes.base import TenantView, tenant_in_turn
from monitor.prompts import load_suites, shipped_folder
from tests.unit.probe_runs import VIEW


def tenants(count: int) -> tuple[TenantView, ...]:
    return tuple(TenantView(name=f"tenant-{n}", isolation=f"tenant-{n}") for n in range(count))


@pytest.mark.parametrize("count", range(1, 8))
def test_every_tenant_meets_both_ways(count: int) -> None:
    asked = [tenant_in_turn(tenants(count), number).name for number in range(2 * count)]
    assert len({(name, number % 2) for number, name in enumerate(asked)}) == 2 * count
    assert len(set(asked[:count])) == count


@pytest.mark.parametrize("probe", ["golden", "canary"])
@pytest.mark.parametrize("count", [2, 3])
def test_golden_prompts_and_canaries_are_streamed_and_whole_for_every_tenant(
    probe: str, count: int
) -> None:
    view = replace(VIEW, tenants=tenants(count), golden=load_suites(shipped_folder()))
    plans = plan_pass(view, profile_choices("standard", (probe,)), rng=Random(1)).trials
    ways = {(plan.arguments["tenant"].name, plan.arguments["stream"]) for plan in plans}
    assert len(ways) == 2 * count
