"""What a report tells of rotation, and of versions of golden prompts, from rows in a store."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta

from monitor.canaries import InstallationKey
from monitor.findings import Finding, Rotation, Turn, findings_in
from monitor.model import Expectation, VerdictClass
from monitor.store import Store
from monitor.store.client import connect
from monitor.store.encode import trial_rows
from monitor.store.private import EvidenceHasher
from monitor.store.week_reader import Span, WeekReader
from monitor.weekly.findings import findings_of
from monitor.weekly.operation import changes_of
from monitor.weekly.record import FindingRow
from monitor.weekly.text import visible
from monitor.weekly.unseen import unseen_shapes, untold_rotation
from monitor.weekly.week import Week
from tests.unit.store.samples import exchange, trial
from tests.unit.test_finding_decisions import flawed

HASHER = EvidenceHasher(InstallationKey(bytes(32)))
NUMBERS = itertools.count()


def hours(week: Week, number: float) -> datetime:
    return week.since + timedelta(hours=number)


def found(store: Store, week: Week, stratum: str) -> Finding:
    book = findings_in(store, week.since)
    verdict = replace(flawed(VerdictClass.LEAK, stratum=stratum, at=hours(week, 1)), target="out")
    opened = book.record(replace(verdict, shape=stratum))
    assert opened is not None
    return opened


def rotate(
    store: Store,
    finding: Finding,
    rotation: Rotation,
    told: datetime,
    at: datetime | None = None,
) -> None:
    store.writer.flush()
    turn = Turn(rotation=rotation, who=f"{rotation} by", told_at=told, at=at)
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


def test_how_long_users_were_exposed_is_without_each_time_it_was_drained(
    store: Store, week: Week
) -> None:
    # The onset of each is an hour after the week began, and a week has 168.
    twice, never, closed, wrong, no_fault = (found(store, week, name) for name in "defgh")
    for rotation, hour in ((Rotation.DRAINED, 3), (Rotation.RETURNED, 5), (Rotation.DRAINED, 11)):
        rotate(store, twice, rotation, hours(week, hour))
    rotate(store, closed, Rotation.DRAINED, hours(week, 2))
    rotate(store, wrong, Rotation.DRAINED, hours(week, 2))
    rotate(store, wrong, Rotation.RETURNED, hours(week, 7), hours(week, 2))
    rotate(store, wrong, Rotation.DRAINED, hours(week, 8), hours(week, 6))
    store.writer.flush()
    book = findings_in(store, hours(week, 12))
    book.resolve(closed.id, "ann", "mended", hours(week, 20))
    book.dismiss(no_fault.id, "ann", "none", hours(week, 20))
    rows = told_of(store, week)
    told = {
        each.id: (rows[each.id].seconds_to_rotation, rows[each.id].seconds_exposed)
        for each in (twice, never, closed, wrong, no_fault)
    }
    assert told == {
        twice.id: (2 * 3600.0, (2 + 6) * 3600.0),
        never.id: (None, 167 * 3600.0),
        closed.id: (3600.0, 3600.0),
        wrong.id: (5 * 3600.0, 5 * 3600.0),
        no_fault.id: (None, None),
    }
    store.writer.flush()
    book.reopen(closed.id, "ann", "it is back", hours(week, 30))
    again = told_of(store, week)[closed.id]
    # Whether it was put back while it was closed nobody tells: that time may be exposed.
    assert again.seconds_exposed == (1 + 148) * 3600.0


def test_what_was_closed_opened_again_or_held_back_is_told_of_the_week(
    store: Store, week: Week
) -> None:
    late, again, before = (found(store, week, name) for name in ("late", "again", "before"))
    store.writer.flush()
    book = findings_in(store, hours(week, 2))
    book.resolve(before.id, "ann", "mended", hours(week, 2))
    rotate(store, again, Rotation.DRAINED, hours(week, 3))
    store.writer.flush()
    book = findings_in(store, hours(week, 4))
    book.resolve(again.id, "ann", "mended", hours(week, 25))
    book.reopen(again.id, "bob", "it is back", hours(week, 97))
    book.resolve(late.id, "eve", "mended", hours(week, 167))
    rows = told_of(store, week)
    assert rows[late.id].seconds_held == 166 * 3600.0
    assert rows[again.id].seconds_held == (24 + 71) * 3600.0
    assert [rows[each.id].reopened for each in (late, again, before)] == [0, 1, 0]
    row = rows[again.id]
    assert (row.closed_at, row.acknowledged_at, row.acknowledged_by) == (
        None,
        hours(week, 25),
        "ann",
    )
    unseen = {row.why.split()[4]: row.where for row in unseen_shapes(rows.values())}
    assert unseen == {
        late.id: "late, for 166.0 of 168 hours",
        again.id: "again, for 95.0 of 168 hours",
        before.id: "before, for 1.0 of 168 hours",
    }
    after = told_of(store, Week.of(week.until + timedelta(hours=1)))
    assert (after[again.id].seconds_held, late.id in after) == (168 * 3600.0, False)


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
        rows = changes_of(reader, Span(since=week.since, until=week.until))
    return [(row.what, row.target, row.now, row.at) for row in rows if "golden" in row.what]


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
            "golden prompts: not asked any more",
            "glm",
            f"f/gone (2 times in the week before, last on {last:%F %H:%M})",
            week.since,
        ),
        (
            "golden prompts: another version",
            "glm",
            f"f/changed ({'1' * 12} → {'4' * 12} → {'1' * 12})",
            hours(week, 4),
        ),
        ("golden prompts: first asked", "glm", "f/new", hours(week, 5)),
    ]


def test_of_many_new_versions_each_is_told_whole(store: Store, week: Week) -> None:
    for number in range(14):
        asked(store, week.since - timedelta(days=2), f"f/{number:02}", "1" * 12)
        asked(store, hours(week, number), f"f/{number:02}", "2" * 12)
    rows = changes(store, week)
    assert {(what, target) for what, target, _, _ in rows} == {
        ("golden prompts: another version", "glm")
    }
    assert ", ".join(now for _, _, now, _ in rows) == ", ".join(
        f"f/{number:02} ({'1' * 12} → {'2' * 12})" for number in range(14)
    )
    assert [at for _, _, _, at in rows] == [week.since, hours(week, 13)]
    assert all(visible(now) == now for _, _, now, _ in rows), "none is cut"


def test_of_very_many_versions_of_one_prompt_the_rest_is_counted(store: Store, week: Week) -> None:
    for hour in range(-1, 30):
        asked(store, hours(week, hour), "f/flips", f"{hour % 2}" * 12)
    [(_, _, now, at)] = changes(store, week)
    assert (at, now.count(" → ")) == (week.since, 20)
    assert now.endswith(" and 10 more)")
    assert visible(now) == now


def test_what_was_written_twice_was_asked_once(store: Store, week: Week) -> None:
    asked(store, hours(week, 1), "f/kept", "1" * 12)
    before = week.since - timedelta(days=2)
    asked(store, before, "f/kept", "1" * 12)
    for _ in range(3):
        asked(store, before, "f/gone", "2" * 12)
    store.writer.flush()
    # The block differs, so that its rows are taken again.
    with closing(connect(store.location)) as client:
        client.command("SYSTEM STOP MERGES exchanges")
        client.command(
            "INSERT INTO exchanges SELECT * FROM exchanges WHERE golden = 'f/gone' "
            "AND started_at = {before:DateTime64(3, 'UTC')} LIMIT 2",
            {"before": before},
        )
        [(rows,)] = client.query(
            "SELECT count() FROM exchanges WHERE golden = 'f/gone' "
            "AND started_at = {before:DateTime64(3, 'UTC')}",
            {"before": before},
        )
        assert rows == 5
        [(_, _, now, _)] = changes(store, week)
        client.command("SYSTEM START MERGES exchanges")
    assert now.startswith("f/gone (3 times in the week before")


def test_a_target_of_which_no_golden_prompt_is_asked_any_more_is_told_of_elsewhere(
    store: Store, week: Week
) -> None:
    asked(store, week.since - timedelta(days=2), "f/gone", "2" * 12)
    assert changes(store, week) == []


def test_of_many_prompts_that_are_gone_each_is_told_whole(store: Store, week: Week) -> None:
    names = [f"extraction/some-long-name-{number:02}-zh" for number in range(14)]
    before = week.since - timedelta(days=2)
    asked(store, hours(week, 1), "f/00", "1" * 12)
    for name in names:
        asked(store, before, name, "1" * 12)
    rows = [now for what, _, now, _ in changes(store, week) if "not asked" in what]
    said = f"(1 time in the week before, last on {before:%F %H:%M})"
    assert ", ".join(rows) == ", ".join(f"{name} {said}" for name in names)
    assert all(visible(now) == now for now in rows), "none is cut"
    assert len(rows) < 4, "a row names several"
