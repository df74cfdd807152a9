"""Evidence is let go whole, wherever that was broken off, and however much of it there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from monitor.findings import findings_in
from monitor.model import VerdictClass
from monitor.sinks import ClickHouseSink
from monitor.store.holds import TRIAL_COLUMNS, Settled
from tests.unit.store.samples import verdict
from tests.unit.store.test_holds import (
    LONG_AGO,
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
