"""What to ask a target in one pass, what that costs, and what cannot be asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from monitor.conventions import NotProbed as NotProbedCode
from monitor.errors import UsageError
from monitor.probes import PROBES
from monitor.probes.base import (
    BudgetKind,
    Impossible,
    Price,
    ProbeParams,
    TargetView,
    TrialPlan,
)

PROFILES = ("quick", "standard", "deep")
_NOTHING = Price(refused_tokens=0, answered_tokens=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeChoice:
    """A probe to run and its parameters."""

    name: str
    params: ProbeParams


@dataclass(frozen=True, slots=True, kw_only=True)
class NotProbed:
    """A stratum nobody looked at, and why; never green."""

    probe: str
    stratum: str
    code: NotProbedCode
    reason: str
    price: Price | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassPlan:
    """All trials of one pass over one target, in order, and what is left out."""

    trials: tuple[TrialPlan, ...]
    not_probed: tuple[NotProbed, ...]

    def tokens(self, kind: BudgetKind, *, answered: bool) -> int:
        """Return the tokens of one budget if every boundary prompt is answered, or refused."""
        return sum(
            plan.price.answered_tokens if answered else plan.price.refused_tokens
            for plan in self.trials
            if plan.budget is kind
        )


def profile_choices(profile: str, names: Collection[str] = ()) -> tuple[ProbeChoice, ...]:
    """Return the probes of a profile, or those of them that are named.

    Raises ``UsageError`` for an unknown profile or probe: an empty selection is never a success.
    """
    if profile not in PROFILES:
        msg = f"no profile {profile!r} (use one of: {', '.join(PROFILES)})"
        raise UsageError(msg)
    unknown = sorted(set(names) - set(PROBES))
    if unknown:
        msg = f"no probe {unknown[0]!r} (use one of: {', '.join(PROBES)})"
        raise UsageError(msg)
    return tuple(
        ProbeChoice(name=name, params=probe.params.model_validate(probe.presets.get(profile, {})))
        for name, probe in PROBES.items()
        if (name in names if names else profile not in probe.left_out_of)
    )


def with_shapes(choices: Sequence[ProbeChoice], shapes: Collection[str]) -> tuple[ProbeChoice, ...]:
    """Return the choices with those probes first whose shape is named, the gentlest where missing.

    For what is known of a target's nodes: whether it shows in answers is asked before all else.
    """
    named = [choice for choice in choices if PROBES[choice.name].shape in shapes]
    others = [choice for choice in choices if choice not in named]
    there = {PROBES[choice.name].shape for choice in named}
    missing = [
        name for name, probe in PROBES.items() if probe.shape in shapes and probe.shape not in there
    ]
    added = profile_choices("quick", missing) if missing else ()
    return (*named, *added, *others)


def plan_pass(
    view: TargetView,
    choices: Sequence[ProbeChoice],
    *,
    rng: Random,
    frozen: Mapping[str, str] | None = None,
) -> PassPlan:
    """Plan one pass. ``frozen`` maps shapes that an open leak holds back to its finding."""
    trials: list[TrialPlan] = []
    not_probed: list[NotProbed] = []
    for choice in choices:
        probe = PROBES[choice.name]
        finding = (frozen or {}).get(probe.shape)
        for plan in probe.plan(view, choice.params, rng):
            if isinstance(plan, Impossible):
                not_probed.append(
                    NotProbed(
                        probe=plan.probe,
                        stratum=plan.stratum,
                        code=plan.code,
                        reason=plan.reason,
                        price=_NOTHING if plan.code is NotProbedCode.QUARANTINED else None,
                    )
                )
            elif finding:
                not_probed.append(held_back(plan, finding))
            elif view.gentle and not plan.gentle:
                not_probed.append(too_harsh(plan))
            else:
                trials.append(plan)
    return PassPlan(trials=tuple(trials), not_probed=_once(not_probed))


def held_back(plan: TrialPlan, finding: str) -> NotProbed:
    """Return the record of a trial that is not sent because its shape leaks already."""
    reason = f"held back: finding {finding} is open, and asking again would read others' text"
    return _gap(plan, NotProbedCode.FROZEN, reason)


def too_harsh(plan: TrialPlan) -> NotProbed:
    """Return the record of a trial that could harm a target in production."""
    reason = "could harm a target that serves users: set gentle: false where it does not"
    return _gap(plan, NotProbedCode.NOT_GENTLE, reason)


def too_dear(plan: TrialPlan) -> NotProbed:
    """Return the record of a trial that the day's budget cannot pay."""
    reason = f"what is left of the {plan.budget.value} budget of the day cannot pay it"
    return _gap(plan, NotProbedCode.BUDGET, reason)


def unanswered(plan: TrialPlan) -> NotProbed:
    """Return the record of a boundary stratum that never got an answer."""
    reason = "asked, but no answer came, nor a refusal that was recognised as one"
    return _gap(plan, NotProbedCode.NO_ANSWER, reason)


def _gap(plan: TrialPlan, code: NotProbedCode, reason: str) -> NotProbed:
    return NotProbed(
        probe=plan.probe, stratum=plan.stratum, code=code, reason=reason, price=plan.price
    )


def _once(entries: Sequence[NotProbed]) -> tuple[NotProbed, ...]:
    return tuple({(e.probe, e.stratum, e.reason): e for e in entries}.values())
