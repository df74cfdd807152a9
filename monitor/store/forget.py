"""Erase what was kept of a tenant, a trial or a time; a tombstone in the audit chain stays.

Erased are trials with everything about them, and the texts of markers. What stays: keyed hashes and
owners of markers, without which a later leak of them could be nobody's; sums; findings with the ids
they name. The order is such that an erasure which was broken off is found again and ended by asking
for it once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from monitor.clock import Clock
from monitor.errors import UsageError
from monitor.store.audit import Detail
from monitor.store.client import Client, connect
from monitor.store.copies import (
    detached_parts,
    erase_damaged,
    no_second_copies,
    replaced_parts,
)
from monitor.store.holds import TRIAL_COLUMNS
from monitor.store.leftovers import QUARANTINE
from monitor.store.links import BEFORE, Action, ends
from monitor.store.reader import milliseconds
from monitor.store.rebuilding import Rebuilding
from monitor.store.snapshot import PREFIX
from monitor.store.store import SPOOL_DIRECTORY, Store

MARKERS = "markers"
_TIME_COLUMNS = {
    "trials": "started_at",
    "exchanges": "started_at",
    "exchange_verdicts": "decided_at",
    "signals": "decided_at",
    "bodies": "stored_at",
    "verdicts": "decided_at",
}
# What makes a row the only one of its kind: one written twice counts once.
_KEYS = {
    "trials": "id",
    "exchanges": "(trial, exchange)",
    "exchange_verdicts": "(verdict, exchange)",
    "signals": "(verdict, position)",
    "bodies": "(trial, exchange)",
    "verdicts": "id",
}
_TABLES = (*TRIAL_COLUMNS, MARKERS)
# A server takes the ids as part of a URL of at most a megabyte.
_TRIALS_AT_ONCE = 5_000
# A change of many rows says nothing before its end.
_ANSWER_SECONDS = 3_600
_BEFORE = "fromUnixTimestamp64Milli({before:Int64})"
_HELD = "AND held"
_OR_AGAIN = " OR source = 'rescore'"
# Of a tenant: its own exchanges, and answers in which its markers were found, or parts of them that
# were too little to fail.
_ITS_EXCHANGES = "SELECT trial FROM exchanges WHERE tenant = {tenant:String}"
_ITS_MARKERS = (
    "SELECT trial FROM signals "
    "WHERE owned AND status IN ('fail', 'pass') AND owner_tenant = {tenant:String} AND trial != ''"
)

# Told how far an erasure has come.
OnErased = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be forgotten: exactly one of the three."""

    tenant: str = ""
    trial: str = ""
    before: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse anything but one. Raises ``UsageError``."""
        if [bool(self.tenant), bool(self.trial), self.before is not None].count(True) != 1:
            raise UsageError("say what is to be forgotten: one of --tenant, --trial and --before")

    def __str__(self) -> str:
        if self.before is not None:
            return f"{BEFORE}{self.before.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        return f"tenant {self.tenant}" if self.tenant else f"trial {self.trial}"

    @property
    def parameters(self) -> dict[str, Any]:
        """What statements about it are bound to."""
        if self.before is not None:
            return {"before": milliseconds(self.before)}
        return {"tenant": self.tenant} if self.tenant else {"trial": self.trial}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What there is of it: rows of each table, and markers with their text.

    ``held_rows`` and ``held_markers`` are those of them that open findings hold, ``held`` how many
    trials each finding does. ``begun`` says that an erasure of it was broken off.
    """

    rows: Mapping[str, int]
    markers: int
    held: Mapping[str, int]
    held_rows: Mapping[str, int]
    held_markers: int
    begun: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was erased, and where copies may be left, which makes it unsure.

    ``quarantine`` is how many files of the spool's quarantine were erased, ``unreadable`` how many
    are there of which nobody can tell what they hold.
    """

    rows: Mapping[str, int]
    markers: int
    replaced: Mapping[str, int]
    detached: Mapping[str, int]
    quarantine: int
    unreadable: int


class Forgetting:
    """One request to forget, over an open store whose folder is ``folder``."""

    def __init__(self, store: Store, folder: Path, asked: Asked, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._quarantine = folder / SPOOL_DIRECTORY / QUARANTINE
        self._asked = asked
        self._bound = asked.parameters

    def found(self) -> Found:
        """Return what there is to forget, and what is held back; changes nothing of it.

        Raises ``UsageError`` if the store never heard of it, or while a backup reads the store.
        """
        self._store.holds.settle()
        said = str(self._asked)
        with closing(self._client()) as client:
            self._refuse_while_backed_up(client)
            markers = self._live_markers(client, keep=())
            kept_markers = self._store.reader.held_markers()
            found = Found(
                rows={table: self._count(client, table) for table in TRIAL_COLUMNS},
                markers=markers,
                held=self._held_by(client),
                held_rows={table: self._count(client, table, _HELD) for table in TRIAL_COLUMNS},
                held_markers=markers - self._live_markers(client, keep=kept_markers),
                begun=any(ends(said, each) for each in self._store.audit.unended()),
            )
            is_empty = not markers and not any(found.rows.values())
            if is_empty and not found.begun and not self._is_known(client):
                msg = f"the store holds nothing of {said}"
                raise UsageError(msg)
        return found

    def erase(self, found: Found, *, who: str, on_erased: OnErased) -> Erased:
        """Erase what was found, but what open findings hold, and prove that it is gone.

        Raises ``StoreError`` if it was broken off: asking again ends it.
        """
        self._tell(
            Action.FORGET,
            who,
            {"rows": found.rows, "markers": found.markers, "held": found.held},
        )
        with closing(self._client()) as client:
            self._refuse_while_backed_up(client)
            self._store.flush()
            keep = self._kept_trials(client)
            with no_second_copies(client, _TABLES):
                rows = self._erase_rows(client, keep, sum(found.rows.values()), on_erased)
                markers = self._erase_markers(client)
                replaced = replaced_parts(client, _TABLES)
            laid_aside, unreadable = erase_damaged(
                self._quarantine, self._asked.tenant or self._asked.trial, self._asked.before
            )
            erased = Erased(
                rows=rows,
                markers=markers,
                replaced=replaced,
                detached=detached_parts(client, _TABLES),
                quarantine=laid_aside,
                unreadable=unreadable,
            )
        self._tell(
            Action.FORGOTTEN,
            who,
            {"rows": erased.rows, "markers": markers, "quarantine": laid_aside},
        )
        return erased

    def _tell(self, action: Action, who: str, details: Mapping[str, Detail]) -> None:
        self._store.audit.append(
            action, str(self._asked), actor=who, at=self._clock.now(), details=details
        )

    def _client(self) -> Client:
        return connect(replace(self._store.location, answer_seconds=_ANSWER_SECONDS))

    def _refuse_while_backed_up(self, client: Client) -> None:
        sql = (
            "SELECT count() FROM system.tables "
            "WHERE database = currentDatabase() AND startsWith(name, {prefix:String})"
        )
        if client.query(sql, {"prefix": PREFIX})[0][0]:
            raise UsageError("a backup is being taken of this store: wait for its end")

    # What there is.

    def _count(self, client: Client, table: str, also: str = "") -> int:
        # Of one trial the rows fit into memory, and then it is much quicker to tell them apart.
        number = f"uniqExact({_KEYS[table]})" if self._asked.trial else "count()"
        final = "" if self._asked.trial else "FINAL"
        sql = f"SELECT {number} FROM {table} {final} WHERE {self._of(table)} {also}"  # noqa: S608
        return int(client.query(sql, self._bound)[0][0])

    def _of(self, table: str) -> str:
        """Return the condition for rows of a table that are to be forgotten."""
        column = TRIAL_COLUMNS[table]
        if self._asked.trial:
            return f"{column} = {{trial:String}}"
        if self._asked.tenant:
            return f"{column} IN ({_ITS_EXCHANGES} UNION ALL {_ITS_MARKERS})"
        return f"({_TIME_COLUMNS[table]} < {_BEFORE} OR {column} IN ({self._late_trials()}))"

    def _late_trials(self) -> str:
        """Return what finds trials of before of which something was written only afterwards.

        A trial at the border, that is, or one that was judged again.
        """
        after = " UNION ALL ".join(
            f"SELECT {column} FROM {table} WHERE {time} >= {_BEFORE} "  # noqa: S608
            f"AND ({time} < {_BEFORE} + toIntervalDay(1)"
            f"{_OR_AGAIN if time == 'decided_at' else ''})"
            for table, column in TRIAL_COLUMNS.items()
            if table != "trials"
            for time in (_TIME_COLUMNS[table],)
        )
        return f"SELECT id FROM trials WHERE started_at < {_BEFORE} AND id IN ({after})"  # noqa: S608

    def _live_markers(self, client: Client, keep: Sequence[str]) -> int:
        sql = f"SELECT uniqExact(id) FROM {MARKERS} WHERE {self._of_markers()}"  # noqa: S608
        return int(client.query(sql, self._bound | {"keep": list(keep)})[0][0])

    def _of_markers(self) -> str:
        whose = {
            "tenant": "tenant = {tenant:String}",
            "trial": "trial = {trial:String}",
            "before": f"minted_at < {_BEFORE}",
        }[next(iter(self._bound))]
        return f"{whose} AND sealed != '' AND NOT has({{keep:Array(String)}}, id)"

    def _is_known(self, client: Client) -> bool:
        """Tell whether there was ever anything: a time always was."""
        if self._asked.before is not None:
            return True
        column = "tenant" if self._asked.tenant else "trial"
        sql = f"SELECT count() FROM {MARKERS} WHERE {column} = {{{column}:String}}"  # noqa: S608
        return bool(client.query(sql, self._bound)[0][0])

    def _held_by(self, client: Client) -> dict[str, int]:
        """Return how many trials of it each open finding holds."""
        evidence = self._store.holds.evidence()
        kept = [evidence[trial] for trial in self._evidence_in(client, list(evidence))]
        if self._asked.before is not None:
            sql = (
                f"SELECT finding FROM verdicts WHERE trial = '' AND held AND decided_at < {_BEFORE}"  # noqa: S608
            )
            kept += [str(row[0]) for row in client.query(sql, self._bound)]
        return dict(sorted(Counter(kept).items()))

    def _kept_trials(self, client: Client) -> frozenset[str]:
        return frozenset(self._evidence_in(client, list(self._store.holds.evidence())))

    def _evidence_in(self, client: Client, evidence: Sequence[str]) -> Iterator[str]:
        """Yield those of these trials that are to be forgotten."""
        for some in _parts(evidence):
            sql = f"SELECT DISTINCT trial FROM verdicts WHERE {self._of('verdicts')} AND trial IN {{some:Array(String)}}"  # noqa: E501, S608
            yield from (str(row[0]) for row in client.query(sql, self._bound | {"some": some}))

    # Erasing.

    def _erase_rows(
        self, client: Client, keep: frozenset[str], total: int, on_erased: OnErased
    ) -> dict[str, int]:
        rebuilding = self._rebuilding(client)
        erased: Counter[str] = Counter(dict.fromkeys(TRIAL_COLUMNS, 0))
        for trials, last in self._batches(client, keep):
            for table in sorted(TRIAL_COLUMNS, key=lambda table: table == last):
                where = f"{TRIAL_COLUMNS[table]} IN {{trials:Array(String)}}"
                number = f"uniqExact({_KEYS[table]})"
                erased[table] += rebuilding.delete(table, number, where, {"trials": trials})
                on_erased(table, erased.total(), max(total, erased.total()))
        if self._asked.before is not None:
            for table, column in _TIME_COLUMNS.items():
                where = f"{column} < {_BEFORE} AND NOT held"
                number = f"uniqExact({_KEYS[table]})"
                erased[table] += rebuilding.delete(table, number, where, self._bound)
                on_erased(table, erased.total(), max(total, erased.total()))
        return dict(erased)

    def _batches(self, client: Client, keep: frozenset[str]) -> Iterator[tuple[list[str], str]]:
        """Yield trials, and the table by which they are found and which is therefore the last."""
        if self._asked.trial:
            yield [trial for trial in (self._asked.trial,) if trial not in keep], "trials"
            return
        if self._asked.before is not None:
            late = client.query(self._late_trials(), self._bound)
            for some in _parts([str(row[0]) for row in late if str(row[0]) not in keep]):
                yield some, "trials"
            return
        # Those with its markers alone go first: they are told apart by having no exchange of it.
        only = f"{_ITS_MARKERS} AND trial NOT IN ({_ITS_EXCHANGES})"
        sources = ((only, "signals", "decided_at"), (_ITS_EXCHANGES, "exchanges", "started_at"))
        for which, last, column in sources:
            for trials in self._by_day(client, which, column, keep):
                for some in _parts(trials):
                    yield some, last

    def _by_day(
        self, client: Client, which: str, column: str, keep: frozenset[str]
    ) -> Iterator[list[str]]:
        """Yield the trials a query names day by day: not all of them need to fit into memory."""
        days = client.query(
            which.replace("SELECT trial", f"SELECT DISTINCT toYYYYMMDD({column}) AS day", 1)
            + " ORDER BY day",
            self._bound,
        )
        for (day,) in days:
            found = client.query(
                which.replace("SELECT trial", "SELECT DISTINCT trial", 1)
                + f" AND toYYYYMMDD({column}) = {{day:UInt32}}",
                self._bound | {"day": int(day)},
            )
            yield [str(row[0]) for row in found if str(row[0]) not in keep]

    def _erase_markers(self, client: Client) -> int:
        """Erase sealed texts; those that evidence of an open finding names stay."""
        keep = list(self._store.reader.held_markers())
        return self._rebuilding(client).update(
            MARKERS, "sealed", "''", self._of_markers(), self._bound | {"keep": keep}
        )

    def _rebuilding(self, client: Client) -> Rebuilding:
        clustered = self._store.location.cluster is not None
        return Rebuilding(self._store.writer, client, clustered=clustered)


def _parts(trials: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(trials), _TRIALS_AT_ONCE):
        yield list(trials[start : start + _TRIALS_AT_ONCE])
