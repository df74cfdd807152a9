"""The result of ``davylamp evidence show``: a contract (docs/evidence-json.md), and its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

from monitor.conventions.streams import AlarmTier, NotWatched
from monitor.detect.binomial import exchanges_to_show, upper_bound
from monitor.detect.card import Card, card
from monitor.detect.sequence import confidence_sequence
from monitor.detect.watch import Tier
from monitor.reports.check import Record
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT
from monitor.reports.terminal import printable
from monitor.watching import HeldBy, Refused, Standing

EVIDENCE_SCHEMA_VERSION: Final = "1.0"
_TIERS = {Tier.PAGE: AlarmTier.PAGE, Tier.TICKET: AlarmTier.TICKET}
_NOT_WATCHED = {
    NotWatched.TOLERANCE: "more than half of its answers may fail",
    NotWatched.NOT_PLANNED: "no day plan asks it now",
    NotWatched.WEIGHT: "its weight is 0",
}


class StreamState(StrEnum):
    """How a stream stands, worst first."""

    ALARM = "alarm"
    NOT_WATCHED = "not_watched"
    FEW = "few"
    QUIET = "quiet"


class WindowReport(Record):
    """``failed`` of the last ``of`` scores failed; ``enough`` would reach the threshold."""

    failed: int
    of: int
    enough: int | None


class ThresholdReport(Record):
    """At which evidence a tier is raised."""

    tier: AlarmTier
    evidence: float


class AlarmReport(Record):
    """An alarm that is not over, and what it takes to end it."""

    tier: AlarmTier
    raised_at: datetime | None
    began_at: datetime | None
    evidence: float
    threshold: float
    failed: float
    of: int
    failed_since: int
    clean: int
    clean_needed: int
    first_age: int | None
    end_age: int | None


class StreamReport(Record):
    """One stream. Rates are of scores, that is trials, in which something failed."""

    probe: str
    stratum: str
    lane: str
    state: StreamState
    not_watched: NotWatched | None
    y0: float
    held_by: HeldBy
    evidence: float
    thresholds: list[ThresholdReport]
    in_a_row: int | None
    windows: list[WindowReport]
    scored: int
    failed: int
    errors: int
    invalid: int
    valid_ratio: float | None
    rate_at_least: float
    rate_at_most: float
    unseen_at_most: float | None
    last_at: datetime | None
    alarm: AlarmReport | None


class EvidenceReport(Record):
    """The streams of one target, worst first; ``refused`` cannot be read and begin anew."""

    schema_version: Literal["1.0"] = EVIDENCE_SCHEMA_VERSION
    target: str
    at: datetime
    live: bool
    exit_code: int
    streams: list[StreamReport]
    refused: list[str]


def evidence_report(
    target: str,
    standings: Sequence[Standing],
    refused: Sequence[Refused],
    *,
    at: datetime,
    live: bool,
) -> EvidenceReport:
    """Return the report of a target's streams; ``live`` if the daemon told of them."""
    streams = sorted(map(_stream, standings), key=_order)
    states = [stream.state for stream in streams]
    scored = any(stream.scored for stream in streams)
    unsure = UNSURE_EXIT if refused or not scored else GOOD_EXIT
    return EvidenceReport(
        target=target,
        at=at,
        live=live,
        exit_code=BAD_EXIT if StreamState.ALARM in states else unsure,
        streams=streams,
        refused=[_place(each.row.probe, each.row.stratum, each.row.detector) for each in refused],
    )


def _stream(standing: Standing) -> StreamReport:
    watch, shown, key = standing.watch, card(standing.watch), standing.key
    low, high = confidence_sequence(standing.failed, watch.scored)
    limits = ((AlarmTier.TICKET, watch.thresholds.ticket), (AlarmTier.PAGE, watch.thresholds.page))
    clean = watch.scored > 0 and standing.failed == 0
    return StreamReport(
        probe=key.probe,
        stratum=key.stratum,
        lane=key.lane.value,
        state=_state(standing),
        not_watched=standing.not_watched,
        y0=watch.y0,
        held_by=standing.held_by,
        evidence=shown.evidence,
        thresholds=[
            ThresholdReport(tier=tier, evidence=limit)
            for tier, limit in limits
            if limit is not None
        ],
        in_a_row=shown.in_a_row,
        windows=[WindowReport(failed=w.failed, of=w.of, enough=w.enough) for w in shown.windows],
        scored=watch.scored,
        failed=standing.failed,
        errors=watch.errors,
        invalid=watch.invalid,
        valid_ratio=watch.valid_share,
        rate_at_least=low,
        rate_at_most=high,
        unseen_at_most=upper_bound(0, watch.scored) if clean else None,
        last_at=standing.changed_at,
        alarm=_alarm(standing, shown),
    )


def _state(standing: Standing) -> StreamState:
    watch = standing.watch
    if watch.alarm is not None:
        return StreamState.ALARM
    if standing.not_watched is not None:
        return StreamState.NOT_WATCHED
    # So many scores would show a fault at the rate that is tolerated in 95 of 100 cases.
    few = watch.scored < exchanges_to_show(watch.y0)
    return StreamState.FEW if few else StreamState.QUIET


def _alarm(standing: Standing, shown: Card) -> AlarmReport | None:
    latched = shown.alarm
    if latched is None:
        return None
    first, end = latched.ages or (None, None)
    return AlarmReport(
        tier=_TIERS[latched.tier],
        raised_at=standing.alarmed_at,
        began_at=standing.onset_at,
        evidence=latched.alarm.value,
        threshold=latched.threshold,
        failed=latched.alarm.bad,
        of=latched.alarm.since,
        failed_since=latched.failed,
        clean=latched.clean,
        clean_needed=shown.clean_needed,
        first_age=first,
        end_age=end,
    )


def _order(stream: StreamReport) -> tuple[object, ...]:
    tier = stream.alarm.tier if stream.alarm else AlarmTier.TICKET
    worst = list(StreamState).index(stream.state)
    return (worst, tier is not AlarmTier.PAGE, stream.probe, stream.stratum, stream.lane)


def evidence_lines(report: EvidenceReport) -> list[str]:
    """Return the lines of a report."""
    return [printable(line) for line in _lines(report)]


def _lines(report: EvidenceReport) -> Iterator[str]:
    for stream in report.streams:
        yield from _stream_lines(stream)
    for place in report.refused:
        yield f"UNREADABLE  {place}: what was kept of it is refused, it begins anew"
    count = {state: sum(s.state is state for s in report.streams) for state in StreamState}
    yield (
        f"{report.target}: {len(report.streams)} streams, "
        f"{count[StreamState.ALARM]} with an alarm, "
        f"{count[StreamState.QUIET]} quiet, {count[StreamState.FEW]} with few scores, "
        f"{count[StreamState.NOT_WATCHED]} not watched"
    )
    if not report.live:
        yield "no daemon runs: this is what was kept last"


def _stream_lines(stream: StreamReport) -> Iterator[str]:
    words = {
        StreamState.ALARM: (stream.alarm.tier if stream.alarm else "").upper(),
        StreamState.NOT_WATCHED: "not watched",
        StreamState.FEW: "few scores",
        StreamState.QUIET: "quiet",
    }
    yield f"{words[stream.state]:<11} {_place(stream.probe, stream.stratum, stream.lane)}"
    if stream.not_watched is not None:
        yield f"  why       {_NOT_WATCHED[stream.not_watched]}"
    if stream.alarm is not None:
        yield from _alarm_lines(stream.alarm)
    if stream.scored:
        yield from _score_lines(stream)
    elif stream.errors or stream.invalid:
        yield f"  scores    none; {stream.errors} errors, {stream.invalid} invalid"


def _alarm_lines(alarm: AlarmReport) -> Iterator[str]:
    raised = f"{alarm.raised_at:%Y-%m-%d %H:%M:%S} UTC" if alarm.raised_at else "unknown"
    began = f", began about {alarm.began_at:%Y-%m-%d %H:%M:%S} UTC" if alarm.began_at else ""
    yield f"  alarm     since {raised}{began}: {alarm.failed:g} of {alarm.of} failed"
    if alarm.first_age is not None:
        until = f"to {alarm.end_age}" if alarm.end_age is not None else "and on"
        yield f"  ages      of exchanges number {alarm.first_age + 1} {until} after a start"
    yield (
        f"  ends      after {alarm.clean_needed} clean scores in a row; {alarm.clean} so far, "
        f"{alarm.failed_since} failed since"
    )


def _score_lines(stream: StreamReport) -> Iterator[str]:
    limits = ", ".join(f"{each.evidence:.3g} ({each.tier})" for each in stream.thresholds)
    row = f"; {stream.in_a_row} failures in a row reach it" if stream.in_a_row else ""
    yield f"  evidence  {stream.evidence:.3g} of {limits or 'no threshold'}{row}"
    for window in stream.windows:
        enough = f" ({window.enough} are enough)" if window.enough is not None else ""
        yield f"  scores    {window.failed} of the last {window.of} failed{enough}"
    yield f"  may fail  {stream.y0:.2%} ({stream.held_by})"
    yield f"  rate      {_rate(stream)}"
    if stream.valid_ratio is not None and stream.valid_ratio < 1:
        yield f"  valid     {stream.valid_ratio:.0%} of the last trials gave a score"


def _rate(stream: StreamReport) -> str:
    always = f"{stream.rate_at_least:.2%} to {stream.rate_at_most:.2%} whenever one looks"
    if stream.unseen_at_most is not None:
        return f"nothing failed in {stream.scored}: at most {stream.unseen_at_most:.2%} ({always})"
    return f"{stream.failed} of {stream.scored} failed: {always}"


def _place(*parts: str) -> str:
    return " ".join(part for part in parts if part)
