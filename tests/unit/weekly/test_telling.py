"""What a report tells of rotation, and of versions of golden prompts, from rows in a store."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from monitor.canaries import InstallationKey
from monitor.findings import Finding, Rotation, Turn, findings_in
from monitor.model import Expectation, VerdictClass
from monitor.store import Store, open_store
from monitor.store.client import connect
from monitor.store.encode import trial_rows
from monitor.store.private import EvidenceHasher
from monitor.store.week_reader import Span, WeekReader
from monitor.weekly.findings import findings_of
from monitor.weekly.record import FindingRow
from monitor.weekly.unseen import untold_rotation
from monitor.weekly.week import Week
from tests.unit.store.samples import exchange, trial
from tests.unit.test_finding_decisions import flawed

HASHER = EvidenceHasher(InstallationKey(bytes(32)))
# Each test has two weeks of its own in the one store.
WEEKS = (Week.parse("2026-W45").earlier(2 * number) for number in itertools.count())
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "davylamp-data") as opened:
        yield opened


@pytest.fixture
def week() -> Week:
    return next(WEEKS)


def hours(week: Week, number: float) -> datetime:
    return week.since + timedelta(hours=number)


def found(store: Store, week: Week, stratum: str) -> Finding:
    book = findings_in(store, week.since)
    verdict = replace(flawed(VerdictClass.LEAK, stratum=stratum, at=hours(week, 1)), target="out")
    opened = book.record(replace(verdict, shape=stratum))
    assert opened is not None
    return opened


def rotate(store: Store, finding: Finding, rotation: Rotation, told: datetime) -> None:
    store.writer.flush()
    turn = Turn(rotation=rotation, who=f"{rotation} by", told_at=told)
    findings_in(store, told).rotate(finding.id, turn)


def told_of(store: Store, week: Week) -> dict[str, FindingRow]:
    store.writer.flush()
    with closing(WeekReader(connect(store.location, read_only=True))) as reader:
        rows = findings_of(reader, Span(since=week.since, until=week.until))
    return {row.finding: row for row in rows}


def test_when_a_target_was_taken_out_and_put_back_as_told_by_the_weeks_end(
    store: Store, week: Week
) -> None:
    out, both, untold = (found(store, week, name) for name in ("a", "b", "c"))
    for each in (out, both):
        rotate(store, each, Rotation.DRAINED, hours(week, 2))
    rotate(store, both, Rotation.RETURNED, hours(week, 5))
    rotate(store, both, Rotation.DRAINED, hours(week, 9))
    rotate(store, out, Rotation.RETURNED, week.until + timedelta(hours=1))
    rows = told_of(store, week)
    assert (rows[out.id].out_of_rotation_at, rows[out.id].back_in_rotation_at) == (
        hours(week, 2),
        None,
    )
    assert (rows[out.id].rotation_by, rows[out.id].seconds_to_rotation) == ("drained by", 3600.0)
    assert (rows[both.id].out_of_rotation_at, rows[both.id].back_in_rotation_at) == (
        hours(week, 9),
        None,
    )
    for each in (out, both, untold):
        assert rows[each.id].acknowledged_at is None, "who drains has not taken it up"
    assert (rows[untold.id].out_of_rotation_at, rows[untold.id].seconds_to_rotation) == (None, None)
    later = told_of(store, Week.parse("2026-W46"))
    assert later[out.id].back_in_rotation_at == week.until + timedelta(hours=1)
    said = [row for row in untold_rotation(rows.values()) if row.target == "out"]
    assert [(row.what, row.where) for row in said] == [("rotation", untold.id)]
    assert said[0].why == "nobody told when the target was taken out of rotation, or it was not"


def asked(store: Store, at: datetime, name: str, version: str, target: str = "glm") -> None:
    """Store a trial that asked this version of a golden prompt then."""
    expected = Expectation(golden=name, golden_version=version)
    sent = exchange(expectation=expected)
    sent = replace(sent, timing=replace(sent.timing, started_at=at))
    one = trial(number=next(NUMBERS), target=target, started_at=at, exchanges=(sent,))
    store.writer.put(trial_rows(one, HASHER))


def changes(store: Store, week: Week) -> list[tuple[str, str, str, datetime]]:
    store.writer.flush()
    with closing(WeekReader(connect(store.location, read_only=True))) as reader:
        rows = reader.changes(Span(since=week.since, until=week.until))
    return [(what, target, now, at) for what, target, at, now, _ in rows if "golden" in what]


def test_prompts_first_asked_changed_and_not_asked_any_more(store: Store, week: Week) -> None:
    before = week.since - timedelta(days=2)
    last = before + timedelta(hours=1)
    for name, version in (("f/changed", "1" * 12), ("f/gone", "2" * 12), ("f/same", "3" * 12)):
        asked(store, before, name, version)
    asked(store, last, "f/gone", "2" * 12)
    asked(store, before, "f/kept", "", target="old")
    asked(store, hours(week, 3), "f/changed", "1" * 12)
    asked(store, hours(week, 4), "f/changed", "4" * 12)
    asked(store, hours(week, 8), "f/changed", "4" * 12)
    asked(store, hours(week, 9), "f/changed", "1" * 12)
    asked(store, hours(week, 3), "f/same", "3" * 12)
    asked(store, hours(week, 3), "f/kept", "5" * 12, target="old")
    asked(store, hours(week, 5), "f/new", "6" * 12)
    assert changes(store, week) == [
        (
            "golden prompts",
            "glm",
            f"not asked any more: f/gone (2 times in the week before, last on {last:%F %H:%M})",
            week.since,
        ),
        ("golden prompt f/changed", "glm", f"version {'1' * 12} → {'4' * 12}", hours(week, 4)),
        ("golden prompts", "glm", "first asked: f/new", hours(week, 5)),
        ("golden prompt f/changed", "glm", f"version {'4' * 12} → {'1' * 12}", hours(week, 9)),
    ]


def test_a_target_of_which_no_golden_prompt_is_asked_any_more_is_told_of_elsewhere(
    store: Store, week: Week
) -> None:
    asked(store, week.since - timedelta(days=2), "f/gone", "2" * 12)
    assert changes(store, week) == []


def test_of_many_prompts_ten_are_named(store: Store, week: Week) -> None:
    asked(store, hours(week, 1), "f/00", "1" * 12)
    for number in range(14):
        asked(store, week.since - timedelta(days=2), f"f/{number:02}", "1" * 12)
    [(_, _, now, _)] = changes(store, week)
    assert now.startswith("not asked any more: f/01 (1 time in the week before, last on ")
    assert now.endswith(") and 3 more")
    assert now.count("in the week before") == 10
