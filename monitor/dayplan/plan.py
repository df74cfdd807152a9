"""What a day of one target is: which strata are asked, how often, at what price, and which not.

The schedule follows it, ``davylamp plan`` prints it, and ``config check`` quotes its totals. Every
trial is priced as if it were answered, so the day's budgets last the day whatever the target does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from monitor.config import Config, Target
from monitor.config.effective import Caps
from monitor.configured import token_price
from monitor.conventions import NotProbed as NotProbedCode
from monitor.dayplan.rates import DAY_SECONDS, Cell, allot, risk_prior
from monitor.planning import NotProbed, PassPlan, ProbeChoice, plan_pass
from monitor.probes import PROBES
from monitor.probes.base import BudgetKind, Price, TargetView, TrialPlan

# Some probes draw what a pass asks from more than it can hold: so many passes are looked at.
_DRAWS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DayStratum:
    """A stratum that is asked: trials a day, and the mean price of one."""

    probe: str
    stratum: str
    budget: BudgetKind
    prior: float
    trials: float
    refused_tokens: float
    answered_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPlan:
    """A day of one target. ``budgets`` are its caps in tokens, money caps turned into tokens."""

    target: str
    strata: tuple[DayStratum, ...]
    not_probed: tuple[NotProbed, ...]
    budgets: Mapping[BudgetKind, float]

    def rates(self, probe: str) -> dict[str, float]:
        """Return the trials a day of each stratum of a probe."""
        return {each.stratum: each.trials for each in self.strata if each.probe == probe}

    def interval_seconds(self, probe: str) -> float | None:
        """Return the time between two trials of a probe; ``None`` if it is never asked."""
        trials = sum(self.rates(probe).values())
        return DAY_SECONDS / trials if trials > 0 else None

    def tokens(self, budget: BudgetKind | None = None, *, answered: bool) -> float:
        """Return a day's tokens, of one budget or both, if all is answered or over is refused."""
        return sum(
            each.trials * (each.answered_tokens if answered else each.refused_tokens)
            for each in self.strata
            if budget is None or each.budget is budget
        )


def day_plan(
    config: Config,
    target: Target,
    view: TargetView,
    choices: Sequence[ProbeChoice],
    *,
    changed: bool = False,
) -> DayPlan:
    """Return the day of a target by its configuration, its limits and what may be asked of it.

    After a change of the target the reserve of the budgets is used too.
    """
    planned = [each for choice in choices for each in _draws(view, choice)]
    left_out = {_gap_key(gap): gap for each in planned for gap in each.not_probed}
    budgets = token_caps(config, target)
    limits = [limit.tokens for limit in view.limits]
    trials: dict[Cell, list[TrialPlan]] = {}
    for (probe, stratum), group in _by_stratum(planned).items():
        cell = Cell(
            probe=probe,
            stratum=stratum,
            budget=group[0].budget.value,
            tokens=_mean([each.price.answered_tokens for each in group]),
            prior=risk_prior(stratum, limits, changed=changed),
        )
        trials[cell] = group
    rates = allot(
        list(trials),
        {kind.value: tokens for kind, tokens in budgets.items()},
        {choice.name: _most_a_day(config, target, choice) for choice in choices},
        reserve=0.0 if changed else config.schedule.reserve,
    )
    asked = [rate for rate in rates if rate.affordable]
    return DayPlan(
        target=target.name,
        strata=tuple(_stratum(rate.cell, rate.a_day, trials[rate.cell]) for rate in asked),
        not_probed=(
            *left_out.values(),
            *(
                _unaffordable(rate.cell, trials[rate.cell], budgets)
                for rate in rates
                if not rate.affordable
            ),
        ),
        budgets=budgets,
    )


def token_caps(config: Config, target: Target) -> dict[BudgetKind, float]:
    """Return each day's cap in tokens; a cap in dollars is paid at the dearer of the two prices."""
    held = config.for_target(target)
    price = token_price(target)

    def cap(caps: Caps) -> float:
        return caps.tokens if caps.usd is None else min(caps.tokens, price.tokens(caps.usd))

    return {BudgetKind.ORDINARY: cap(held.daily), BudgetKind.BOUNDARY: cap(held.boundary)}


def jitter_seconds(config: Config, target: Target, probe: str) -> float:
    """Return by how much each run of a probe is put off at most, a quarter of its interval."""
    return min(config.schedule.jitter_seconds, _interval(config, target, probe) / 4)


def _most_a_day(config: Config, target: Target, choice: ProbeChoice) -> float:
    """Return how often a probe may run: no two runs nearer than its interval, none in vain."""
    name, most = choice.name, PROBES[choice.name].most_a_day
    mean = _interval(config, target, name) + jitter_seconds(config, target, name) / 2
    return min(DAY_SECONDS / mean, math.inf if most is None else most(choice.params))


def _interval(config: Config, target: Target, probe: str) -> float:
    entry = next((each for each in target.entries if each.name == probe), None)
    return config.for_probe(target, entry).interval_seconds


def _draws(view: TargetView, choice: ProbeChoice) -> list[PassPlan]:
    """Return passes of one probe until they bring no stratum that was not there before."""
    passes: list[PassPlan] = []
    seen: set[str] = set()
    for seed in range(_DRAWS):
        drawn = plan_pass(view, [choice], rng=Random(seed))
        passes.append(drawn)
        new = {trial.stratum for trial in drawn.trials} - seen
        if seed and not new:
            break
        seen |= new
    return passes


def _by_stratum(planned: Sequence[PassPlan]) -> dict[tuple[str, str], list[TrialPlan]]:
    found: dict[tuple[str, str], list[TrialPlan]] = {}
    for trial in (trial for each in planned for trial in each.trials):
        found.setdefault((trial.probe, trial.stratum), []).append(trial)
    return found


def _gap_key(gap: NotProbed) -> tuple[str, str, str]:
    """Return what makes a gap another one: prompts that are set aside share one stratum."""
    told_by = gap.reason if gap.code is NotProbedCode.QUARANTINED else gap.code.value
    return gap.probe, gap.stratum, told_by


def _stratum(cell: Cell, a_day: float, group: Sequence[TrialPlan]) -> DayStratum:
    return DayStratum(
        probe=cell.probe,
        stratum=cell.stratum,
        budget=group[0].budget,
        prior=cell.prior,
        trials=a_day,
        refused_tokens=_mean([each.price.refused_tokens for each in group]),
        answered_tokens=cell.tokens,
    )


def _unaffordable(
    cell: Cell, group: Sequence[TrialPlan], budgets: Mapping[BudgetKind, float]
) -> NotProbed:
    kind = group[0].budget
    return NotProbed(
        probe=cell.probe,
        stratum=cell.stratum,
        code=NotProbedCode.BUDGET,
        reason=(
            f"one trial a day of it costs {cell.tokens:,.0f} tokens, which the {kind.value} budget "
            f"of {budgets[kind]:,.0f} cannot pay beside what is likelier to find a fault"
        ),
        price=Price(
            refused_tokens=round(_mean([each.price.refused_tokens for each in group])),
            answered_tokens=round(cell.tokens),
        ),
    )


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers)
