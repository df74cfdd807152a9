"""Everything that reads the store, through a client of its own that is made read-only.

It sees what has been written; call ``Writer.flush`` first to see all that was acknowledged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from monitor.model import Verdict, VerdictClass
from monitor.store.audit_reader import AuditReader
from monitor.store.decode import verdict_of
from monitor.store.rows import (
    TABLES,
    AnyRow,
    BodyRow,
    BudgetRow,
    CalibrationRow,
    DetectorStateRow,
    ExchangeRow,
    ExchangeVerdictRow,
    FindingChangeRow,
    FindingRow,
    LadderRow,
    MarkerRow,
    ScheduleEventRow,
    SignalRow,
    TargetRow,
    TrialRow,
    VerdictRow,
)

R = TypeVar("R", bound=AnyRow)
# Trials that are evidence of {findings}: see ``Reader.evidence_of``.
_EVIDENCE = (
    f"SELECT trial, finding FROM {TABLES[VerdictRow]} "  # noqa: S608
    "WHERE finding IN {findings:Array(String)} AND trial != '' "
    f"UNION ALL SELECT arrayJoin(trials) AS trial, id AS finding FROM {TABLES[FindingRow]} FINAL "
    "WHERE id IN {findings:Array(String)} "
    f"UNION ALL SELECT id AS trial, confirms AS finding FROM {TABLES[TrialRow]} "
    "WHERE confirms IN {findings:Array(String)} "
    f"UNION ALL SELECT s.owner_trial AS trial, v.finding AS finding FROM {TABLES[SignalRow]} AS s "
    f"INNER JOIN (SELECT id, finding FROM {TABLES[VerdictRow]} "
    "WHERE finding IN {findings:Array(String)}) AS v ON v.id = s.verdict "
    "WHERE s.owned AND s.status = 'fail' AND s.owner_trial != ''"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# FINAL must look through everything for what might replace a row; of the keys of what was found it
# need not.
_OF_TRIAL = (
    "trial = {trial:String} AND (target, probe, stratum, decided_at) IN "  # noqa: S608
    f"(SELECT target, probe, stratum, decided_at FROM {TABLES[VerdictRow]} "
    "WHERE trial = {trial:String})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrial:
    """Everything known of one trial: what ``explain`` shows."""

    trial: TrialRow | None
    exchanges: tuple[ExchangeRow, ...]
    verdicts: tuple[Verdict, ...]
    signals: tuple[SignalRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one budget of a target has spent or reserved."""

    target: str
    budget: str
    tokens: int
    usd: float


class Reader(AuditReader):
    """Typed questions to the store. Values are always bound by the server."""

    def trial(self, trial_id: str) -> StoredTrial | None:
        """Return what is known of a trial, or ``None`` if it was never stored."""
        parameters = {"trial": trial_id}
        trials = self._rows(TrialRow, "id = {trial:String}", parameters)
        verdicts = self._rows(VerdictRow, f"{_OF_TRIAL} ORDER BY decided_at", parameters)
        if not trials and not verdicts:
            return None
        exchanges = self._rows(ExchangeRow, "trial = {trial:String} ORDER BY exchange", parameters)
        return StoredTrial(
            trial=trials[0] if trials else None,
            exchanges=tuple(exchanges),
            verdicts=self._whole(verdicts),
            signals=tuple(self._signals(verdicts)),
        )

    def verdict(self, verdict_id: str) -> Verdict | None:
        """Return one verdict."""
        rows = self._rows(VerdictRow, "id = {verdict:String} LIMIT 1", {"verdict": verdict_id})
        return next(iter(self._whole(rows)), None)

    def last_scheduled(self, since: datetime) -> tuple[VerdictRow, ...]:
        """Return the newest scheduled verdict of each probe of each target, if it is since then."""
        where = (
            "decided_at >= {since:DateTime64(3, 'UTC')} AND source = 'probe' AND scheduled "
            "ORDER BY decided_at DESC, id LIMIT 1 BY target, probe"
        )
        return tuple(self._rows(VerdictRow, where, {"since": since.astimezone(UTC)}))

    def verdicts_of(
        self, finding: str, classes: Sequence[VerdictClass], most: int
    ) -> tuple[Verdict, ...]:
        """Return the first verdicts of a finding that are of these classes."""
        where = (
            "finding = {finding:String} AND has({classes:Array(String)}, class) "
            "ORDER BY decided_at, id LIMIT {most:UInt32}"
        )
        labels = [each.label for each in classes]
        bound = {"finding": finding, "classes": labels, "most": most}
        return self._whole(self._rows(VerdictRow, where, bound))

    def last_verdict_of(self, finding: str) -> Verdict | None:
        """Return the newest verdict that joined a finding."""
        where = "finding = {finding:String} ORDER BY decided_at DESC, id DESC LIMIT 1"
        rows = self._rows(VerdictRow, where, {"finding": finding})
        return next(iter(self._whole(rows)), None)

    def exchanges_of(self, trials: Sequence[str]) -> tuple[ExchangeRow, ...]:
        """Return the exchanges of these trials."""
        where = "trial IN {trials:Array(String)} ORDER BY trial, exchange"
        return tuple(self._rows(ExchangeRow, where, {"trials": list(trials)}))

    def open_findings(self, target: str | None = None) -> tuple[FindingRow, ...]:
        """Return the findings that are neither resolved nor dismissed, oldest first."""
        where = "state NOT IN ('resolved', 'dismissed')"
        if target is not None:
            where += " AND target = {target:String}"
        parameters = {} if target is None else {"target": target}
        return tuple(self._rows(FindingRow, f"{where} ORDER BY first_seen, id", parameters))

    def findings_since(self, since: datetime) -> tuple[FindingRow, ...]:
        """Return the findings first seen since then, and those that suppress beyond it."""
        where = (
            "first_seen >= {since:DateTime64(3, 'UTC')} "
            "OR suppressed_until >= {since:DateTime64(3, 'UTC')} ORDER BY first_seen, id"
        )
        return tuple(self._rows(FindingRow, where, {"since": since.astimezone(UTC)}))

    def findings(self) -> tuple[FindingRow, ...]:
        """Return every finding as it stands, newest first."""
        return tuple(self._rows(FindingRow, "1 ORDER BY first_seen DESC, id", {}))

    def finding_history(self, finding_id: str) -> tuple[FindingChangeRow, ...]:
        """Return every version of a finding, oldest first."""
        where = "finding = {finding:String} ORDER BY version"
        return tuple(self._rows(FindingChangeRow, where, {"finding": finding_id}))

    def finding(self, finding_id: str) -> FindingRow | None:
        """Return a finding as it stands."""
        rows = self._rows(FindingRow, "id = {finding:String} LIMIT 1", {"finding": finding_id})
        return next(iter(rows), None)

    def findings_named(self, beginning: str, most: int) -> tuple[FindingRow, ...]:
        """Return the finding of this id, else those whose ids begin so, at most so many."""
        exact = self.finding(beginning)
        if exact is not None:
            return (exact,)
        where = "startsWith(id, {beginning:String}) ORDER BY id LIMIT {most:UInt32}"
        return tuple(self._rows(FindingRow, where, {"beginning": beginning, "most": most}))

    def spent(self, day: date) -> tuple[Spent, ...]:
        """Return what every budget spent or reserved on a day (UTC)."""
        # FINAL would merge all days there are to look at one.
        last = "argMax(tokens, version) AS tokens, argMax(usd, version) AS usd"
        sql = (
            "SELECT target, budget, sum(r.tokens), sum(r.usd) "  # noqa: S608
            f"FROM (SELECT target, budget, reservation, {last} FROM {TABLES[BudgetRow]} "
            "WHERE day = {day:Date} GROUP BY target, budget, reservation) AS r "
            "GROUP BY target, budget ORDER BY target, budget"
        )
        found = self._client.query(sql, {"day": day})
        return tuple(Spent(target=t, budget=b, tokens=int(n), usd=float(u)) for t, b, n, u in found)

    def spent_tokens(self, target: str, day: date) -> int:
        """Return the tokens all budgets of a target spent or reserved on a day (UTC)."""
        return sum(each.tokens for each in self.spent(day) if each.target == target)

    def markers(self) -> tuple[MarkerRow, ...]:
        """Return every marker, live and expired, in the order of minting."""
        return tuple(self._rows(MarkerRow, "1 ORDER BY minted_at, id", {}))

    def markers_of(self, ids: Sequence[str]) -> tuple[MarkerRow, ...]:
        """Return these markers, in the order of minting."""
        where = "id IN {ids:Array(String)} ORDER BY minted_at, id"
        return tuple(self._rows(MarkerRow, where, {"ids": list(ids)}))

    def evidence_markers(self) -> tuple[str, ...]:
        """Return the ids of the markers that the evidence of any finding names.

        A finding names no more than some of its trials; verdicts name their finding.
        """
        sql = (
            f"SELECT DISTINCT marker FROM {TABLES[SignalRow]} WHERE marker != '' "  # noqa: S608
            f"AND (trial IN (SELECT arrayJoin(trials) FROM {TABLES[FindingRow]} FINAL) "
            f"OR verdict IN (SELECT id FROM {TABLES[VerdictRow]} WHERE finding != '')) "
            "ORDER BY marker"
        )
        return tuple(str(row[0]) for row in self._client.query(sql))

    def held_markers(self) -> tuple[str, ...]:
        """Return the ids of the markers that evidence of open findings names."""
        sql = (
            f"SELECT DISTINCT marker FROM {TABLES[SignalRow]} WHERE marker != '' AND held "  # noqa: S608
            "ORDER BY marker"
        )
        return tuple(str(row[0]) for row in self._client.query(sql))

    def evidence_of(self, findings: Sequence[str]) -> dict[str, str]:
        """Return the trials that are evidence of these findings, each with one of them.

        Those whose verdicts belong to it, those it names, those sent to confirm it, and those whose
        markers its verdicts found.
        """
        if not findings:
            return {}
        sql = f"SELECT trial, any(finding) FROM ({_EVIDENCE}) GROUP BY trial"  # noqa: S608
        found = self._client.query(sql, {"findings": list(findings)})
        return {str(trial): str(finding) for trial, finding in found}

    def answers_of(self, trials: Sequence[str]) -> tuple[tuple[int | None, str, int], ...]:
        """Return how many exchanges of these trials ended with which HTTP status at which route.

        A route is the fingerprint a target gives of what answered, empty if it gives none.
        """
        sql = (
            "SELECT http_status, system_fingerprint, uniqExact(trial, exchange) AS n "  # noqa: S608
            f"FROM {TABLES[ExchangeRow]} WHERE trial IN {{trials:Array(String)}} "
            "GROUP BY http_status, system_fingerprint ORDER BY n DESC, http_status"
        )
        found = self._client.query(sql, {"trials": list(trials)})
        return tuple((code, str(route), int(count)) for code, route, count in found)

    def held_trials(self) -> frozenset[str]:
        """Return the trials of which a verdict or a body is held.

        Verdicts of no trial are evidence by themselves and stay held.
        """
        sql = (
            f"SELECT DISTINCT trial FROM {TABLES[VerdictRow]} "  # noqa: S608
            "WHERE held AND trial != '' UNION DISTINCT "
            f"SELECT DISTINCT trial FROM {TABLES[BodyRow]} WHERE held"
        )
        return frozenset(str(row[0]) for row in self._client.query(sql))

    def not_held(self, findings: Sequence[str]) -> frozenset[str]:
        """Return the trials that are evidence of these findings and not held in every row."""
        if not findings:
            return frozenset()
        sql = " UNION DISTINCT ".join(
            f"SELECT DISTINCT trial FROM {table} WHERE NOT held "  # noqa: S608
            f"AND trial IN (SELECT trial FROM ({_EVIDENCE}))"
            for table in (TABLES[VerdictRow], TABLES[BodyRow])
        )
        found = self._client.query(sql, {"findings": list(findings)})
        return frozenset(str(row[0]) for row in found)

    def schedule_events(self, since: datetime) -> tuple[ScheduleEventRow, ...]:
        """Return what the schedule noted since then, oldest first."""
        where = "at >= {since:DateTime64(3, 'UTC')} ORDER BY at, id"
        return tuple(self._rows(ScheduleEventRow, where, {"since": since.astimezone(UTC)}))

    def detector_states(self, targets: Sequence[str]) -> tuple[DetectorStateRow, ...]:
        """Return every stream of these targets as it was last kept."""
        where = "target IN {targets:Array(String)} ORDER BY target, probe, stratum, detector"
        return tuple(self._rows(DetectorStateRow, where, {"targets": list(targets)}))

    def last_ladders(self) -> tuple[LadderRow, ...]:
        """Return the newest ladder of each target that could tell (exit 0 or 1)."""
        where = "exit_code IN (0, 1) ORDER BY started_at DESC, id LIMIT 1 BY target"
        return tuple(self._rows(LadderRow, where, {}))

    def last_targets(self) -> tuple[TargetRow, ...]:
        """Return each target as it was last seen configured."""
        where = "1 ORDER BY seen_at DESC, config_hash LIMIT 1 BY name"
        return tuple(self._rows(TargetRow, where, {}))

    def calibrations(self, target: str) -> tuple[CalibrationRow, ...]:
        """Return every calibration of a target, newest first; none of them is verified yet."""
        where = "target = {target:String} ORDER BY made_at DESC, id"
        return tuple(self._rows(CalibrationRow, where, {"target": target}))

    def calibrated_targets(self) -> frozenset[str]:
        """Return the targets that were ever calibrated."""
        sql = f"SELECT DISTINCT target FROM {TABLES[CalibrationRow]}"  # noqa: S608
        return frozenset(str(row[0]) for row in self._client.query(sql))

    def counts(self) -> dict[str, int]:
        """Return how many rows each table holds."""
        return {
            table: int(self._client.query(f"SELECT count() FROM {table} FINAL")[0][0])  # noqa: S608
            for table in TABLES.values()
        }

    def _whole(self, verdicts: list[VerdictRow]) -> tuple[Verdict, ...]:
        signals = self._signals(verdicts)
        judged = self._parts(ExchangeVerdictRow, verdicts)
        return tuple(
            verdict_of(
                row,
                [each for each in judged if each.verdict == row.id],
                [each for each in signals if each.verdict == row.id],
            )
            for row in verdicts
        )

    def _signals(self, verdicts: list[VerdictRow]) -> list[SignalRow]:
        return self._parts(SignalRow, verdicts)

    def _parts(self, kind: type[R], verdicts: list[VerdictRow]) -> list[R]:
        """Return the rows of these verdicts, which are of the same instants as they."""
        if not verdicts:
            return []
        where = (
            "decided_at >= fromUnixTimestamp64Milli({first:Int64}) "
            "AND decided_at <= fromUnixTimestamp64Milli({last:Int64}) "
            "AND has({ids:Array(String)}, verdict)"
        )
        instants = [milliseconds(row.decided_at) for row in verdicts]
        parameters = {
            "ids": [row.id for row in verdicts],
            "first": min(instants),
            "last": max(instants),
        }
        return self._rows(kind, where, parameters)


def milliseconds(instant: datetime) -> int:
    """Return an instant as the store keeps it: whole milliseconds since 1970."""
    return (instant - _EPOCH) // timedelta(milliseconds=1)
