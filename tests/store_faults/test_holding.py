"""Evidence is let go whole, wherever that was broken off, and however much of it there is."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.findings import findings_in
from monitor.model import VerdictClass
from monitor.sinks import ClickHouseSink
from monitor.store import Store
from monitor.store.holds import TRIAL_COLUMNS, Settled
from tests.unit.store.samples import verdict
from tests.unit.store.test_holds import (
    LONG_AGO,
    calm,
    closed_by_person,
    deliver,
    everywhere,
    leak,
    left_after_its_time,
    old_trial,
    opened,
)


@pytest.mark.parametrize("broken_at", range(len(TRIAL_COLUMNS)))
def test_letting_go_that_was_broken_off_between_tables_begins_again(
    tmp_path: Path, broken_at: int
) -> None:
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        bad = deliver(store, book, 1, leak(1))
        store.holds.settle()
        store.holds.close()
        closed_by_person(book, bad.finding)
        store.flush()
        for table, column in list(TRIAL_COLUMNS.items())[:broken_at]:
            store.writer.run(
                lambda client, table=table, column=column: client.command(  # type: ignore[misc]
                    f"ALTER TABLE {table} UPDATE held = false WHERE {column} = 'trial-glm-1' "
                    "SETTINGS mutations_sync = 2"
                )
            )
    with opened(tmp_path) as store:
        store.holds.settle()
    assert left_after_its_time(tmp_path) == everywhere()


def test_evidence_beyond_what_a_finding_remembers_is_held_and_let_go(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        sink = ClickHouseSink(store.writer, store.hasher)
        finding = None
        for number in range(230):
            told = verdict(
                number,
                decided_at=LONG_AGO,
                verdict_class=VerdictClass.CONTRACT,
                signals=(),
                exchanges=(),
            )
            finding = book.record(told)
            assert finding is not None
            sink.deliver(old_trial(number), replace(told, finding=finding.id))
        assert finding is not None
        assert len(finding.trials) == 200
        store.holds.settle()
        assert len(store.holds.evidence()) == len(store.reader.held_trials()) == 230
        closed_by_person(book, finding.id)
        assert store.holds.settle() in (Settled(held=0, released=230), Settled(held=0, released=0))
        assert store.reader.held_trials() == frozenset()


def test_what_another_open_finding_holds_stays_held(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        deliver(store, book, 1, calm(1))
        one = deliver(store, book, 2, leak(2, owner_trial="trial-glm-1"))
        other = deliver(
            store, book, 3, leak(3, owner_trial="trial-glm-1", shape="burst", stratum="s2")
        )
        assert one.finding != other.finding
        store.holds.settle()
        closed_by_person(book, one.finding)
        store.holds.settle()
        assert store.reader.held_trials() == {"trial-glm-1", "trial-glm-3"}
        closed_by_person(book, other.finding)
        store.holds.settle()
        assert store.reader.held_trials() == frozenset()


def test_a_crash_between_closing_and_letting_go_is_made_good(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        bad = deliver(store, book, 1, leak(1))
        store.holds.settle()
        # From here on nobody settles: the process dies between the two.
        store.holds.close()
        closed_by_person(book, bad.finding)
        assert store.reader.held_trials() == {"trial-glm-1"}
    with opened(tmp_path) as store:
        assert store.holds.settle() == Settled(held=0, released=1)
    assert left_after_its_time(tmp_path) == everywhere()


def test_where_nothing_changes_nothing_is_written(tmp_path: Path) -> None:
    def mutations(store: Store) -> int:
        return int(
            store.writer.run(
                lambda client: client.query(
                    "SELECT count() FROM system.mutations WHERE command LIKE '%held%'"
                )
            )[0][0]
        )

    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        deliver(store, book, 1, leak(1))
        store.holds.settle()
        before = mutations(store)
        for _ in range(3):
            assert store.holds.settle() == Settled(held=0, released=0)
        assert mutations(store) == before


def test_many_who_ask_at_once_are_answered_together(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        bad = deliver(store, book, 1, leak(1))
        closed_by_person(book, bad.finding)
        threads = [threading.Thread(target=store.holds.settle_soon) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        store.holds.close()
        assert store.reader.held_trials() == frozenset()
        store.holds.settle_soon()


def test_a_store_that_cannot_settle_says_so_and_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path) as store:
        store.writer.close()
        store.holds.settle_soon()
        store.holds.close()
        with pytest.raises(StoreError):
            store.holds.settle()
    assert "evidence is held or let go later" in caplog.text


def test_roll_ups_do_not_change_when_evidence_is_held_or_let_go(tmp_path: Path) -> None:
    sums = "SELECT class, sum(number) FROM verdicts_hourly GROUP BY class ORDER BY class"
    with opened(tmp_path) as store:
        book = findings_in(store, LONG_AGO)
        recent = datetime.now(UTC) - timedelta(hours=3)
        told = replace(leak(1), decided_at=recent)
        finding = book.record(told)
        assert finding is not None
        ClickHouseSink(store.writer, store.hasher).deliver(
            old_trial(1), replace(told, finding=finding.id)
        )
        store.holds.settle()
        before = store.writer.run(lambda client: client.query(sums))
        assert before == [("LEAK", 1)]
        closed_by_person(book, finding.id)
        store.holds.settle()
        assert store.writer.run(lambda client: client.query(sums)) == before
