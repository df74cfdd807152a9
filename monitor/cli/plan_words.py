"""A day's plan as lines for a terminal and as data: what is asked, how often, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from monitor.cli.config_commands import usd
from monitor.cli.estimate import OUTPUT_SHARE
from monitor.config.target import PriceList
from monitor.dayplan.plan import DayPlan, DayStratum
from monitor.planning import NotProbed
from monitor.probes.base import BudgetKind
from monitor.reports.terminal import printable

# What a trial is assumed to take, one after the other: a second, and its tokens at this pace.
TRIAL_SECONDS = 1.0
TOKENS_PER_SECOND = 2000.0
ASSUMPTIONS = (
    f"time: {TRIAL_SECONDS:g} s a trial and {TOKENS_PER_SECOND:,.0f} tokens a second, in a row",
    f"money: {OUTPUT_SHARE:.0%} of the tokens are output",
    "rates: every trial priced as if it were answered, so the budgets last the day",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTarget:
    """A target's day, its price list and what could not be read from it."""

    plan: DayPlan
    model: str
    price: PriceList | None
    notes: tuple[str, ...] = ()


def plan_lines(planned: PlannedTarget) -> Iterator[str]:
    """Yield the lines of one target, the dearest strata first."""
    plan = planned.plan
    yield printable(f"{plan.target}  {planned.model}")
    yield _columns("PROBE", "STRATUM", "A DAY", "IF REFUSED", "IF ANSWERED", "MONEY", "TIME")
    for each in sorted(plan.strata, key=lambda s: -s.trials * s.answered_tokens):
        yield printable(_stratum_line(each, planned.price))
    for budget in BudgetKind:
        yield _total_line(budget, planned)
    yield _columns(
        "TOTAL",
        "",
        f"{sum(each.trials for each in plan.strata):,.0f}",
        f"{plan.tokens(answered=False):,.0f}",
        f"{plan.tokens(answered=True):,.0f}",
        _money(plan.tokens(answered=True), planned.price),
        _time(sum(map(_seconds, plan.strata))),
    )
    for gap in plan.not_probed:
        yield printable(f"  NOT PROBED {gap.probe} {gap.stratum}: {gap.reason}{_gap_price(gap)}")
    for note in planned.notes:
        yield printable(f"  NOTE {note}")


def plan_data(planned: PlannedTarget) -> Mapping[str, object]:
    """Return the same as data; tokens, dollars and seconds are those of a day."""
    plan = planned.plan
    return {
        "target": plan.target,
        "model": planned.model,
        "strata": [_stratum_data(each, planned.price) for each in plan.strata],
        "not_probed": [_gap_data(gap) for gap in plan.not_probed],
        "budgets": {
            budget.value: {
                "cap_tokens": round(plan.budgets[budget]),
                "refused_tokens": round(plan.tokens(budget, answered=False)),
                "answered_tokens": round(plan.tokens(budget, answered=True)),
            }
            for budget in BudgetKind
        },
        "usd": _usd(plan.tokens(answered=True), planned.price),
        "seconds": round(sum(map(_seconds, plan.strata)), 1),
        "notes": list(planned.notes),
    }


def _stratum_line(each: DayStratum, price: PriceList | None) -> str:
    answered = each.trials * each.answered_tokens
    return _columns(
        each.probe,
        each.stratum,
        f"{each.trials:,.1f}",
        f"{each.trials * each.refused_tokens:,.0f}",
        f"{answered:,.0f}",
        _money(answered, price),
        _time(_seconds(each)),
    )


def _total_line(budget: BudgetKind, planned: PlannedTarget) -> str:
    plan = planned.plan
    own = [each for each in plan.strata if each.budget is budget]
    return _columns(
        budget.value.upper(),
        f"of {plan.budgets[budget]:,.0f} tokens",
        f"{sum(each.trials for each in own):,.0f}",
        f"{plan.tokens(budget, answered=False):,.0f}",
        f"{plan.tokens(budget, answered=True):,.0f}",
        _money(plan.tokens(budget, answered=True), planned.price),
        _time(sum(map(_seconds, own))),
    )


def _stratum_data(each: DayStratum, price: PriceList | None) -> Mapping[str, object]:
    return {
        "probe": each.probe,
        "stratum": each.stratum,
        "budget": each.budget.value,
        "prior": each.prior,
        "trials": round(each.trials, 3),
        "refused_tokens": round(each.trials * each.refused_tokens),
        "answered_tokens": round(each.trials * each.answered_tokens),
        "usd": _usd(each.trials * each.answered_tokens, price),
        "seconds": round(_seconds(each), 1),
    }


def _gap_data(gap: NotProbed) -> Mapping[str, object]:
    return {
        "probe": gap.probe,
        "stratum": gap.stratum,
        "code": gap.code.value,
        "reason": gap.reason,
        "refused_tokens": gap.price.refused_tokens if gap.price else None,
        "answered_tokens": gap.price.answered_tokens if gap.price else None,
    }


def _gap_price(gap: NotProbed) -> str:
    if gap.price is None:
        return ""
    low, high = gap.price.refused_tokens, gap.price.answered_tokens
    return f" ({low:,} tokens a trial)" if low == high else f" ({low:,} to {high:,} tokens a trial)"


def _seconds(each: DayStratum) -> float:
    return each.trials * (TRIAL_SECONDS + each.answered_tokens / TOKENS_PER_SECOND)


def _usd(tokens: float, price: PriceList | None) -> float | None:
    if price is None:
        return None
    return round(usd(round(tokens), round(tokens * OUTPUT_SHARE), price), 4)


def _money(tokens: float, price: PriceList | None) -> str:
    found = _usd(tokens, price)
    return "-" if found is None else f"${found:,.2f}"


def _time(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"


def _columns(probe: str, stratum: str, *numbers: str) -> str:
    return f"  {probe:<10} {stratum:<36} " + " ".join(f"{number:>11}" for number in numbers)
