"""Evidence of an open finding outlives its time; what nobody holds any more does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from monitor.config.storage import Retention
from monitor.findings import Findings, findings_in
from monitor.model import Owner, Signal, Status, Trial, Verdict
from monitor.sinks import ClickHouseSink
from monitor.sinks.holding import HoldingSink
from monitor.store import Store, open_store
from monitor.store.holds import TRIAL_COLUMNS
from monitor.store.rows import BodyRow
from tests.unit.store.samples import exchange, good, leak_signal, owner, trial, verdict

LONG_AGO = datetime.now(UTC).replace(microsecond=0) - timedelta(days=100)


@contextmanager
def opened(folder: Path, days: int = 1000) -> Iterator[Store]:
    retention = Retention(verdicts_days=days, bodies_days=days)
    with open_store(folder / "store", retention=retention) as store:
        yield store


def old_trial(number: int, **changes: Any) -> Trial:
    timing = replace(exchange().timing, started_at=LONG_AGO)
    return trial(number, started_at=LONG_AGO, exchanges=(exchange(0, timing=timing),), **changes)


def body(number: int) -> BodyRow:
    return BodyRow(
        trial=f"trial-glm-{number}",
        exchange=0,
        target="glm",
        tenant="victim-b",
        stored_at=LONG_AGO,
        key_id="k",
        sealed="sealed",
    )


def leaked(owner_trial: str) -> tuple[Signal, ...]:
    return (replace(leak_signal(), owner=owned_by(owner_trial)),)


def owned_by(owner_trial: str) -> Owner:
    return replace(owner(), trial=owner_trial)


def deliver(store: Store, book: Findings, number: int, told: Verdict, **changes: Any) -> Verdict:
    """Do with a verdict what the pipeline does, and keep a text of its trial."""
    about = old_trial(number, **changes)
    finding = book.record(told, confirms=about.confirms)
    told = replace(told, finding=finding.id if finding else None)
    ClickHouseSink(store.writer, store.hasher).deliver(about, told)
    store.writer.put([replace(body(number), held=told.finding is not None)])
    HoldingSink(store.holds).deliver(about, told)
    return told


def calm(number: int) -> Verdict:
    return good(number, decided_at=LONG_AGO)


def leak(number: int, owner_trial: str = "trial-elsewhere", **changes: Any) -> Verdict:
    return verdict(number, decided_at=LONG_AGO, signals=leaked(owner_trial), **changes)


def left_after_its_time(folder: Path) -> dict[str, set[int]]:
    """Let the time of everything come, and return the trials each table still knows."""
    with opened(folder, days=1) as store:
        return merged(store)


def merged(store: Store) -> dict[str, set[int]]:
    left = {}
    for table, column in TRIAL_COLUMNS.items():
        store.writer.run(
            lambda client, table=table: client.command(f"OPTIMIZE TABLE {table} FINAL")  # type: ignore[misc]
        )
        rows = store.writer.run(
            lambda client, sql=f"SELECT DISTINCT {column} FROM {table}": client.query(sql)  # type: ignore[misc]  # noqa: S608
        )
        left[table] = {int(row[0].rpartition("-")[2]) for row in rows}
    return left


def everywhere(*numbers: int) -> dict[str, set[int]]:
    return {table: set(numbers) for table in TRIAL_COLUMNS}


def closed_by_person(book: Findings, finding: str | None) -> None:
    assert finding is not None
    book.resolve(finding, "ann", "mended", LONG_AGO)


def test_evidence_outlives_its_time_until_the_finding_is_closed(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        deliver(store, book, 1, calm(1))
        bad = deliver(store, book, 2, leak(2))
    assert left_after_its_time(tmp_path) == everywhere(2)
    with opened(tmp_path) as store:
        closed_by_person(findings_in(store, LONG_AGO), bad.finding)
    with opened(tmp_path) as store:
        assert store.reader.held_trials() == frozenset()
    assert left_after_its_time(tmp_path) == everywhere()


def test_the_trial_whose_marker_leaked_is_held_from_then_on(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        donor = replace(calm(1), signals=(Signal(code="NONCE", status=Status.ERROR, exchange=0),))
        deliver(store, book, 1, donor)
        deliver(store, book, 2, calm(2))
        bad = deliver(store, book, 3, leak(3, owner_trial="trial-glm-1"))
        store.holds.settle()
        assert store.holds.evidence() == {
            "trial-glm-1": bad.finding,
            "trial-glm-3": bad.finding,
        }
    assert left_after_its_time(tmp_path) == everywhere(1, 3)
    with opened(tmp_path) as store:
        closed_by_person(findings_in(store, LONG_AGO), bad.finding)
    assert left_after_its_time(tmp_path) == everywhere()


def test_a_confirmation_that_came_out_good_is_evidence_too(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        bad = deliver(store, book, 1, leak(1))
        assert bad.finding is not None
        deliver(store, book, 2, calm(2), confirms=bad.finding)
        store.holds.settle()
        assert store.reader.held_trials() == {"trial-glm-1", "trial-glm-2"}


def test_a_copy_left_by_a_process_that_died_is_gone_when_the_next_one_opens(tmp_path: Path) -> None:
    def copies(store: Store) -> int:
        sql = "SELECT count() FROM system.tables WHERE name LIKE 'rebuilt%'"
        return int(store.writer.run(lambda client: client.query(sql))[0][0])

    with opened(tmp_path) as store:
        store.writer.run(lambda client: client.command("CREATE TABLE rebuilt_bodies AS bodies"))
        assert copies(store) == 1
    with opened(tmp_path) as store:
        assert copies(store) == 0
