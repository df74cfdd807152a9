"""How monitoring itself went: costs, checks, what could not be judged, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from monitor.model import Outcome
from monitor.reports.drill import DrillReport, FaultReport
from monitor.store.week_questions import GOLDEN
from monitor.store.week_reader import Span, WeekReader
from monitor.weekly.inputs import Asked
from monitor.weekly.record import ChainHead
from monitor.weekly.running_record import (
    AcceptedRow,
    ChangeRow,
    CheckRow,
    CostRow,
    DecisionRow,
    DrillRow,
    HttpRow,
    UnjudgedRow,
)
from monitor.weekly.text import MOST_CHARACTERS


def costs_of(reader: WeekReader, span: Span) -> tuple[CostRow, ...]:
    """Return what each budget spent on each day; reservations never settled are counted."""
    return tuple(
        CostRow(
            target=str(target),
            budget=str(budget),
            day=at.date(),
            tokens=int(tokens),
            usd=round(float(usd), 6),
            settled=int(settled),
            unsettled=int(unsettled),
        )
        for at, target, budget, tokens, usd, settled, unsettled in reader.panel("budget", span)
    )


def http_of(reader: WeekReader, span: Span) -> tuple[HttpRow, ...]:
    """Return what HTTP said over the week."""
    found: dict[tuple[str, int, str], int] = {}
    for _, target, status, failure, number in reader.panel("status_codes", span):
        key = (str(target), int(status), str(failure))
        found[key] = found.get(key, 0) + int(number)
    return tuple(
        HttpRow(target=target, http_status=status, failure=failure, exchanges=number)
        for (target, status, failure), number in sorted(found.items())
    )


def checks_of(reader: WeekReader, span: Span) -> tuple[CheckRow, ...]:
    """Return the checks that failed most often."""
    return tuple(
        CheckRow(
            target=str(target),
            code=str(code),
            variant=str(variant),
            failed=int(failed),
            judged=int(judged),
            failed_ratio=int(failed) / max(int(judged), int(failed)),
        )
        for target, code, variant, failed, judged in reader.panel("noisiest_checks", span)
    )


def unjudged_of(reader: WeekReader, span: Span, names: Sequence[str]) -> tuple[UnjudgedRow, ...]:
    """Return of each target how many verdicts say nothing of its answers."""
    missed = reader.missed_runs(span)
    counts: dict[str, dict[str, int]] = {}
    for _, target, outcome, _, number in reader.panel("verdict_classes", span):
        of = counts.setdefault(str(target), {})
        of[str(outcome)] = of.get(str(outcome), 0) + int(number)
    return tuple(_unjudged(name, counts.get(name, {}), missed.get(name, 0)) for name in names)


def _unjudged(target: str, counts: Mapping[str, int], missed: int) -> UnjudgedRow:
    verdicts = sum(counts.values())
    invalid, errors = counts.get(Outcome.INVALID, 0), counts.get(Outcome.ERROR, 0)
    return UnjudgedRow(
        target=target,
        verdicts=verdicts,
        invalid=invalid,
        errors=errors,
        invalid_ratio=invalid / verdicts if verdicts else None,
        error_ratio=errors / verdicts if verdicts else None,
        missed_runs=missed,
    )


def accepted_of(asked: Asked) -> tuple[AcceptedRow, ...]:
    """Return accepted deviations; expired are those whose day was past at the week's end."""
    last_day = asked.week.days[-1]
    return tuple(
        AcceptedRow(
            target=each.target,
            node=each.node,
            deviation=each.deviation,
            owner=each.owner,
            reason=each.reason,
            expires=each.expires,
            expired=each.expires < last_day,
        )
        for each in asked.accepted
    )


def changes_of(reader: WeekReader, span: Span) -> tuple[ChangeRow, ...]:
    """Return what is new against the week before, in order of time.

    Golden prompts come and go by the dozen: as many stand in a row as none is cut in.
    """
    rows: list[ChangeRow] = []
    golden: dict[tuple[str, str], list[ChangeRow]] = {}
    for what, target, at, now, who in reader.changes(span):
        row = ChangeRow(at=at, target=str(target), what=str(what), now=str(now), who=str(who))
        if row.what.startswith(GOLDEN):
            golden.setdefault((row.what, row.target), []).append(row)
        else:
            rows.append(row)
    for prompts in golden.values():
        rows += _gathered(sorted(prompts, key=lambda row: row.now))
    return tuple(sorted(rows, key=lambda row: (row.at, row.target, row.what, row.now)))


def _gathered(prompts: Sequence[ChangeRow]) -> Iterator[ChangeRow]:
    """Yield rows that name one prompt or more, each as of the first of them."""
    row = prompts[0]
    for each in prompts[1:]:
        longer = f"{row.now}, {each.now}"
        if len(longer) > MOST_CHARACTERS:
            yield row
            row = each
        else:
            row = replace(row, now=longer, at=min(row.at, each.at))
    yield row


def decisions_of(reader: WeekReader, span: Span) -> tuple[DecisionRow, ...]:
    """Return what the audit chain tells of the week, counted."""
    return tuple(
        DecisionRow(action=str(action), actor=str(actor), number=int(number))
        for action, actor, number in reader.acts(span)
    )


def chain_of(reader: WeekReader, span: Span) -> ChainHead | None:
    """Return the last link of the audit chain of before the end of a span."""
    link = reader.last_link(span.until)
    return None if link is None else ChainHead(seq=link[0], hash=link[1], at=link[2])


def drill_of(drill: DrillReport | None) -> tuple[DrillRow, ...]:
    """Return what a drill measured of each fault; nothing where none was given."""
    return tuple(_fault(each) for each in drill.faults) if drill is not None else ()


def _fault(fault: FaultReport) -> DrillRow:
    return DrillRow(
        fault=fault.fault,
        runs=fault.runs,
        told=fault.told,
        detected=fault.detected,
        detected_at_least=fault.share_low,
        detected_at_most=fault.share_high,
        median_seconds=fault.seconds,
        median_exchanges=fault.exchanges,
        promise_kept=fault.kept,
    )
