"""What was asked once can be asked again: for every probe, in every profile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from monitor.configured import golden_prompts
from monitor.examining.asking import cheapest_again, draw, plans_of, sources_of, tenants_in
from monitor.model import Trial
from monitor.planning import PROFILES, profile_choices
from monitor.probes import PROBES
from monitor.probes.base import TenantView, TokenLimit, TrialPlan
from monitor.store import open_store
from monitor.store.asked import AskedReader, AskedTrial
from monitor.store.client import connect
from monitor.store.encode import trial_rows, verdict_rows
from tests.contract.test_probes import VIEW
from tests.unit.daemon.installed import config_of
from tests.unit.store.samples import exchange, trial, verdict

FULL = replace(
    VIEW,
    golden=tuple(golden_prompts().values()),
    limits=(TokenLimit(tokens=131_072, source="config"),),
    gentle=False,
)


def asked(plan: TrialPlan, trial_id: str = "t-1") -> AskedTrial:
    prompt = plan.arguments.get("prompt")
    return AskedTrial(
        id=trial_id,
        probe=plan.probe,
        shape=plan.shape,
        stratum=plan.stratum,
        purpose=plan.purpose,
        golden=prompt.name if prompt else "",
        asked_by=tuple(sorted(tenants_in(plan.arguments))),
        classes=("LEAK",),
    )


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("probe", PROBES)
def test_the_like_of_each_trial_is_planned_again(probe: str, profile: str) -> None:
    (choice,) = profile_choices(profile, (probe,))
    plans = plans_of(choice, FULL, Random(1))
    assert plans
    for plan in Random(2).sample(plans, min(6, len(plans))):
        again = draw(asked(plan), choice, FULL, Random(3))
        assert again is not None
        assert (again.probe, again.stratum) == (plan.probe, plan.stratum)
        assert again.arguments.get("prompt") == plan.arguments.get("prompt")
        assert again.purpose == plan.purpose
        assert tenants_in(again.arguments) == tenants_in(plan.arguments)


@pytest.mark.parametrize("seed", range(12))
def test_each_tenant_keeps_its_part(seed: int) -> None:
    names = ("a", "b", "c")
    view = replace(FULL, tenants=tuple(TenantView(name=n, isolation=n) for n in names))
    (choice,) = profile_choices("quick", ("tenant",))
    (plan,) = plans_of(choice, view, Random(seed))
    again = draw(asked(plan), choice, view, Random(seed + 100))
    assert again is not None
    assert again.arguments["donor"] == plan.arguments["donor"]
    assert again.arguments["victim"] == plan.arguments["victim"]


def test_the_cheapest_that_can_be_asked_is_chosen(tmp_path: Path) -> None:
    config = config_of(tmp_path, {"probes": "quick"})
    (target,) = config.targets
    sources = {name: sources_of(config, target, name) for name in ("prefix", "boundary", "canary")}
    deep = profile_choices("deep", ("prefix", "boundary", "canary"))
    by_probe = {choice.name: plans_of(choice, FULL, Random(1))[0] for choice in deep}
    trials = [asked(plan, f"t-{name}") for name, plan in by_probe.items()]
    lost = replace(trials[0], id="t-lost", probe="gone")
    chosen = cheapest_again([lost, *trials], sources, FULL, Random(4))
    assert chosen is not None
    assert chosen.trial.id == "t-canary"
    rest = [each for each in trials if each.probe != "canary"]
    dearer = cheapest_again(rest, sources, FULL, Random(4))
    assert dearer is not None
    assert dearer.trial.id == "t-prefix"
    elsewhere = replace(trials[0], stratum="nowhere/c1/cold/plain/one")
    assert cheapest_again([lost, elsewhere], sources, FULL, Random(4)) is None


def test_places_of_no_profile_can_be_asked_too(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    strata = {
        plan.stratum
        for choice in sources_of(config, config.targets[0], "boundary")
        for plan in plans_of(choice, FULL, Random(1))
    }
    sizes = {name.partition("/")[0] for name in strata}
    assert {"inside-65536", "inside-32768", "inside-16384", "inside-8192"} <= sizes


def test_how_a_trial_was_asked_is_read_back(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        golden = replace(
            exchange(0), expectation=replace(exchange(0).expectation, golden="suite/one")
        )
        other = replace(exchange(1), tenant="victim-c")
        first: Trial = trial(1, exchanges=(golden, other))
        store.writer.put(trial_rows(first, store.hasher))
        store.writer.put(trial_rows(trial(2), store.hasher))
        store.writer.put(verdict_rows(verdict(1)))
        store.flush()
        reader = AskedReader(connect(store.location, read_only=True))
        (found,) = reader.asked(["trial-glm-1", "trial-glm-2", "trial-unknown"])
        reader.close()
        assert found == AskedTrial(
            id="trial-glm-1",
            probe="canary",
            shape="canary",
            stratum="short/c1/cold/plain/pair",
            purpose="a code comes back",
            golden="suite/one",
            asked_by=(("victim", "victim-b"), ("victim", "victim-c")),
            classes=("LEAK",),
        )
