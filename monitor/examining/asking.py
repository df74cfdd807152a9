"""What of a finding's evidence can be asked again, and the trials that are like it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from random import Random
from typing import Any

from monitor.config import Config, Target
from monitor.configured import choices_of
from monitor.model import Part
from monitor.planning import PROFILES, ProbeChoice, profile_choices
from monitor.probes import PROBES
from monitor.probes.base import TargetView, TenantView, TrialPlan
from monitor.prompts import GoldenPrompt
from monitor.store.asked import AskedTrial

# A probe draws some of its prompts: so often it is asked for the one that is looked for.
_DRAWS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A trial that can be asked again: how it is planned, what it costs, whether it is gentle."""

    trial: AskedTrial
    choice: ProbeChoice
    tokens: int
    gentle: bool


def sources_of(config: Config, target: Target, probe: str) -> tuple[ProbeChoice, ...]:
    """Return the parameters a probe may have been run with: configured ones, then each profile's.

    Last come those with which it is asked for the places where a fault may begin.
    """
    own = [choice for choice in choices_of(config, target) if choice.name == probe]
    profiles = [profile_choices(profile, (probe,))[0] for profile in PROFILES]
    plug = PROBES[probe]
    finer = [
        ProbeChoice(name=probe, params=plug.params.model_validate(params))
        for params in plug.localising
    ]
    return tuple(own + profiles + finer)


def cheapest_again(
    trials: Sequence[AskedTrial],
    sources: Mapping[str, Sequence[ProbeChoice]],
    view: TargetView,
    rng: Random,
) -> Again | None:
    """Return the trial that costs the fewest tokens of those that can be asked again."""
    again = [
        each
        for trial in _distinct(trials)
        if (each := _again(trial, sources, view, rng)) is not None
    ]
    return min(again, key=lambda each: (each.tokens, each.trial.id), default=None)


def _distinct(trials: Sequence[AskedTrial]) -> list[AskedTrial]:
    """Return one trial of those that nothing here can tell apart: the first."""
    seen = {
        (each.probe, each.stratum, each.purpose, each.golden, each.asked_by): each
        for each in reversed(trials)
    }
    return list(seen.values())


def _again(
    trial: AskedTrial,
    sources: Mapping[str, Sequence[ProbeChoice]],
    view: TargetView,
    rng: Random,
) -> Again | None:
    for choice in sources.get(trial.probe, ()):
        plan = draw(trial, choice, view, rng)
        if plan is not None:
            tokens = plan.price.answered_tokens
            return Again(trial=trial, choice=choice, tokens=tokens, gentle=plan.gentle)
    return None


def draw(trial: AskedTrial, choice: ProbeChoice, view: TargetView, rng: Random) -> TrialPlan | None:
    """Return a fresh trial like one that was asked: its stratum, and its golden prompt if any.

    Of several that one is preferred that has the same purpose, and the same tenants in their parts.
    """
    view = _narrowed(view, trial.golden)
    best: TrialPlan | None = None
    for _ in range(_DRAWS):
        like = [
            plan
            for plan in plans_of(choice, _reordered(view, rng), rng)
            if plan.stratum == trial.stratum and _golden(plan) == trial.golden
        ]
        rng.shuffle(like)
        best = max(
            [*like, *([best] if best else [])], key=lambda p: _likeness(p, trial), default=None
        )
        if best is not None and all(_likeness(best, trial)):
            break
    return best


def _narrowed(view: TargetView, golden: str) -> TargetView:
    """Return a view that knows a golden prompt and one of its kind, so that it is drawn soon.

    Two of them, since a probe asks its prompts in turn in one way and the other.
    """
    quarantined = {each.name for each in view.quarantined}
    known = [each for each in view.golden if each.name not in quarantined]
    wanted = [each for each in known if each.name == golden]
    kinds = {(each.suite, each.language) for each in wanted}
    alike = [each for each in known if (each.suite, each.language) in kinds and each.name != golden]
    return replace(view, golden=(*wanted, *alike[:1])) if wanted else view


def _reordered(view: TargetView, rng: Random) -> TargetView:
    """Return a view with its tenants in another order: few trials would ask the first ones only."""
    return replace(view, tenants=tuple(rng.sample(view.tenants, len(view.tenants))))


def plans_of(choice: ProbeChoice, view: TargetView, rng: Random) -> list[TrialPlan]:
    """Return the trials that a probe plans with these parameters."""
    plans = PROBES[choice.name].plan(view, choice.params, rng)
    return [plan for plan in plans if isinstance(plan, TrialPlan)]


def _likeness(plan: TrialPlan, trial: AskedTrial) -> tuple[bool, bool, bool]:
    """Tell whether a plan has a trial's purpose, its tenants, and each in the part it played."""
    named = tenants_in(plan.arguments)
    parts = {(part, tenant) for part, tenant in named if part in set(Part)}
    tenants = {tenant for _, tenant in named}
    return (
        plan.purpose == trial.purpose,
        not named or tenants == {tenant for _, tenant in trial.asked_by},
        parts <= set(trial.asked_by),
    )


def _golden(plan: TrialPlan) -> str:
    prompt = plan.arguments.get("prompt")
    return prompt.name if isinstance(prompt, GoldenPrompt) else ""


def tenants_in(arguments: Mapping[str, object]) -> set[tuple[str, str]]:
    """Return the tenants that a trial's arguments speak of, each under the name it goes by there.

    That name is the part it plays, where a probe says ``donor`` or ``victim``.
    """
    return {(name, tenant.name) for name, tenant in _tenants("", arguments)}


def _tenants(name: str, value: Any) -> Iterator[tuple[str, TenantView]]:
    if isinstance(value, TenantView):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _tenants(str(key), each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tenants(name, each)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _tenants(field.name, getattr(value, field.name))
