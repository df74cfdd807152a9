"""From the runs of a drill to its report: counting, comparing with what was promised. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor import __version__
from monitor.checks import CHECKS_VERSION
from monitor.detect.binomial import wilson
from monitor.reports.drill import (
    DrillReport,
    FaultReport,
    NullReport,
    PriceReport,
    PromiseReport,
    RunReport,
)
from monitor.reports.drill_statistics import (
    FEWER_LEVEL,
    allowed,
    fewer_probability,
    median,
    power,
)

GOOD_EXIT, BAD_EXIT, UNSURE_EXIT = 0, 1, 3
LIKELY = 0.95
# The promise of the standard profile: so many faults of so many are likely to be met.
PROMISED_FAULTS, LISTED_FAULTS = 20, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Drilled:
    """A fault or null as the lab lists it."""

    name: str
    null: bool
    sentence: str = ""
    deterministic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the drill was asked to do, and when."""

    profile: str
    context_tokens: int
    first_seed: int
    seeds: int
    started_at: datetime
    finished_at: datetime


def summarise_drill(
    setting: Setting, drilled: Sequence[Drilled], runs: Sequence[RunReport]
) -> DrillReport:
    """Return the report of a drill; each entry of ``drilled`` gets a row, however its runs went."""
    faults = [fault_report(d, _of(runs, d.name)) for d in drilled if not d.null]
    nulls = [null_report(d, _of(runs, d.name)) for d in drilled if d.null]
    promises = _promises(setting, faults, nulls)
    untold = sum(not run.told for run in runs)
    broken = any(not promise.kept for promise in promises)
    return DrillReport(
        davylamp_version=__version__,
        checks_version=CHECKS_VERSION,
        profile=setting.profile,
        context_tokens=setting.context_tokens,
        first_seed=setting.first_seed,
        seeds=setting.seeds,
        started_at=setting.started_at,
        finished_at=setting.finished_at,
        exit_code=BAD_EXIT if broken else UNSURE_EXIT if untold or not runs else GOOD_EXIT,
        promises=promises,
        faults=faults,
        nulls=nulls,
        price=price_report([run for run in runs if run.null and run.told]),
        runs=list(runs),
    )


def _of(runs: Sequence[RunReport], name: str) -> list[RunReport]:
    return sorted((run for run in runs if run.fault == name), key=lambda run: run.seed)


def fault_report(fault: Drilled, runs: Sequence[RunReport]) -> FaultReport:
    """Count the runs of one fault and compare them with what their exchanges allow.

    A run that stopped at its first detection sent only part of its plan: the exposure of its
    whole plan is taken to be that of the run that was whole.
    """
    told = [run for run in runs if run.told]
    found = [run for run in told if run.first is not None]
    firsts = [run.first for run in found if run.first is not None]
    hard = _shows_hard(told)
    planned = _planned(told)
    chances = [_chance(run, planned, hard=hard) for run in told]
    fewer = fewer_probability(len(found), chances)
    all_found = len(found) == len(told)
    claims = [claim for run in told for claim in run.claims]
    low, high = wilson(len(found), len(told))
    return FaultReport(
        fault=fault.name,
        sentence=fault.sentence,
        deterministic=fault.deterministic,
        runs=len(runs),
        told=len(told),
        detected=len(found),
        share_low=low,
        share_high=high,
        missed_seeds=[run.seed for run in told if run.first is None],
        classes=dict(Counter(first.verdict_class for first in firsts).most_common()),
        claims=len(claims),
        right_owners=sum(claim.right_owner is True for claim in claims),
        wrong_owners=sum(claim.right_owner is False for claim in claims),
        false_claims=sum(not claim.foreign for claim in claims),
        seconds=median([first.seconds for first in firsts]),
        exchanges=median([first.exchanges for first in firsts]),
        tokens=median([first.tokens for first in firsts]),
        hard=hard,
        exposed=median([max(run.exposed, planned) for run in told]),
        allowed=sum(chances) / len(chances) if chances else 0.0,
        fewer_probability=fewer,
        kept=all_found if fault.deterministic else fewer >= FEWER_LEVEL,
        baseline=sum(run.baseline.alarm for run in told if run.baseline),
    )


def _shows_hard(told: Sequence[RunReport]) -> bool:
    """True unless more runs show a fault as ordinary mistakes alone than as a hard failure."""
    hard = sum(run.first is not None and run.first.hard for run in told)
    mistaken = sum(run.wrong > 0 and not (run.first and run.first.hard) for run in told)
    return hard >= mistaken


def _planned(told: Sequence[RunReport]) -> int:
    """Return the in-stratum exchanges of a whole plan; of several whole runs the fewest."""
    return min((run.exposed for run in told if run.whole), default=0)


def _chance(run: RunReport, planned: int, *, hard: bool) -> float:
    exposed = run.exposed if run.whole else max(run.exposed, planned)
    if hard:
        return allowed(run.rate, exposed)
    return power(run.rate, exposed, run.valid, run.tolerance)


def null_report(null: Drilled, runs: Sequence[RunReport]) -> NullReport:
    """Count the runs of one null in which anything was raised beyond the tolerance."""
    told = [run for run in runs if run.told]
    loud = [run for run in told if not run.silent]
    return NullReport(
        null=null.name,
        sentence=null.sentence,
        runs=len(runs),
        told=len(told),
        alarms=len(loud),
        alarm_seeds=[run.seed for run in loud],
        share_high=wilson(len(loud), len(told))[1],
        classes=dict(Counter(run.worst for run in told if run.worst != "none").most_common()),
        false_claims=sum(not claim.foreign for run in told for claim in run.claims),
        tolerated=sum(run.wrong for run in told if run.silent),
        valid=sum(run.valid for run in told),
        baseline=sum(run.baseline.alarm for run in told if run.baseline),
    )


def price_report(nulls: Sequence[RunReport]) -> PriceReport:
    """Add up what null runs were planned to cost, were charged, and reported."""
    spent = [run.spent for run in nulls if run.spent is not None]
    planned = sum(each.planned for each in spent)
    charged = sum(each.charged for each in spent)
    reported = sum(each.reported for each in spent)
    return PriceReport(
        runs=len(spent),
        planned=planned,
        charged=charged,
        reported=reported,
        planned_to_charged=planned / charged if charged else None,
        planned_to_reported=planned / reported if reported else None,
    )


def likely(faults: Sequence[FaultReport]) -> tuple[list[str], list[str]]:
    """Return the faults whose exchanges allow at least 95 %, and the rest."""
    met = [f.fault for f in faults if f.allowed >= LIKELY]
    return met, [f.fault for f in faults if f.fault not in met]


def _promises(
    setting: Setting, faults: Sequence[FaultReport], nulls: Sequence[NullReport]
) -> list[PromiseReport]:
    null_claims = sum(row.false_claims for row in nulls)
    false = null_claims + sum(row.false_claims for row in faults)
    claims = null_claims + sum(row.claims for row in faults)
    owners = sum(row.right_owners for row in faults)
    wrong_owners = sum(row.wrong_owners for row in faults)
    loud = [row.null for row in nulls if row.alarms]
    certain = [row for row in faults if row.deterministic]
    missed = [row.fault for row in certain if not row.kept]
    caught = [row for row in certain if row.kept and row.told == row.runs > 0]
    silent = [row for row in nulls if not row.alarms and row.told == row.runs > 0]
    short = [row.fault for row in faults if not row.deterministic and not row.kept]
    promises = [
        PromiseReport(
            promise="no_false_leak",
            kept=not false,
            words=f"{false} of {claims} verdicts LEAK or CROSSED were false",
        ),
        PromiseReport(
            promise="right_owner",
            kept=not wrong_owners,
            words=f"the right owner in {owners} of {owners + wrong_owners} verdicts that named one",
        ),
        PromiseReport(
            promise="nulls_silent",
            kept=not loud,
            words=f"{len(silent)} of {len(nulls)} nulls silent{_names(loud)}",
        ),
        PromiseReport(
            promise="deterministic_detected",
            kept=not missed,
            words=f"{len(caught)} of {len(certain)} deterministic faults detected "
            f"in every run{_names(missed)}",
        ),
        PromiseReport(
            promise="rates_explained",
            kept=not short,
            words="no other fault detected less often than its exchanges allow (one-sided test "
            f"at 1 %){_names(short)}",
        ),
    ]
    return [*promises, _reach(setting, faults)] if faults else promises


def _reach(setting: Setting, faults: Sequence[FaultReport]) -> PromiseReport:
    """Say for how many faults detection is likely; binding for standard and all faults alone."""
    met, rest = likely(faults)
    binding = setting.profile == "standard" and len(faults) >= LISTED_FAULTS
    return PromiseReport(
        promise="reach",
        kept=not binding or len(met) >= PROMISED_FAULTS,
        words=f"{len(met)} of {len(faults)} faults allow a detection with 95 %{_names(rest)}",
    )


def _names(names: Sequence[str]) -> str:
    return f"; not: {', '.join(names)}" if names else ""
