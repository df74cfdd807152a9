"""Every version of a finding is kept, with who decided what; the chain tells of each decision."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.findings import Finding, FindingState, findings_in, to_row
from monitor.model import VerdictClass
from monitor.store import Store, open_store
from monitor.store.client import Location, connect
from monitor.store.migrate import migrate, shipped
from monitor.store.rows import FindingRow, columns, values
from tests.unit.store.samples import NOW
from tests.unit.test_findings import bad

WHY = "Mrs Smith of ward 7 called: it was her record"


def history(store: Store, finding: str) -> list[tuple[int, str, str, int, int]]:
    store.flush()
    return [
        (row.version, row.state, row.verdict_class, row.count, row.child_count)
        for row in store.reader.finding_history(finding)
    ]


def test_every_version_stays_though_the_newest_is_the_finding(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW)
        opened = book.record(bad(VerdictClass.CROSSED, "s1"))
        assert opened is not None
        book.record(bad(VerdictClass.LEAK, "s2"))
        book.claim_confirmation(opened.id, NOW + timedelta(hours=1))
        book.resolve(opened.id, "ann", WHY, NOW + timedelta(hours=2))
        expected = [
            (1, "confirmed", "CROSSED", 1, 0),
            (2, "confirmed", "LEAK", 2, 1),
            (3, "confirmed", "LEAK", 2, 1),
            (4, "resolved", "LEAK", 2, 1),
        ]
        assert history(store, opened.id) == expected
        for table in ("findings", "finding_changes"):
            store.writer.run(
                lambda client, table=table: client.command(f"OPTIMIZE TABLE {table} FINAL")  # type: ignore[misc]
            )
        assert history(store, opened.id) == expected
        last = store.reader.finding_history(opened.id)[-1]
        assert (last.who, last.why) == ("ann", f"2026-11-02T14:30:15Z {WHY}")
        assert [row.version for row in store.reader.findings()] == [4]
        times = [row.changed_at for row in store.reader.finding_history(opened.id)]
        assert times[2:] == [NOW + timedelta(hours=1), NOW + timedelta(hours=2)]


def test_a_clock_that_jumps_back_does_not_turn_the_history_round(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW)
        opened = book.record(bad(VerdictClass.LEAK))
        assert opened is not None
        decided = book.resolve(opened.id, "ann", "mended", NOW - timedelta(days=400))
        assert decided.changed_at == opened.changed_at


def test_a_decision_is_kept_with_its_link_and_without_the_words(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW)
        one, other, third = (
            found.id
            for found in (book.record(bad(VerdictClass.LEAK, shape=s)) for s in ("a", "b", "c"))
            if found is not None
        )
        book.resolve(one, "ann", WHY, NOW)
        book.dismiss(other, "bob", WHY, NOW)
        book.confirm(third, "eve", WHY, NOW)
        links = store.audit.links(3)
        assert [(link.action, link.object, link.actor) for link in links] == [
            ("resolve", one, "ann"),
            ("dismiss", other, "bob"),
            ("confirm", third, "eve"),
        ]
        said = json.loads(links[0].details)
        assert (said["class"], said["target"], said["version"]) == ("LEAK", "glm", 2)
        # Whoever has the finding can show that these were the words.
        assert said["why"] == store.audit.private(store.reader.finding_history(one)[-1].why)
        assert "Smith" not in repr(links)
        assert store.audit.verify().whole


def test_nothing_is_decided_unless_both_are_kept(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW)
        opened = book.record(bad(VerdictClass.LEAK))
        assert opened is not None
        store.writer.close()
        with pytest.raises(StoreError, match="closed"):
            book.resolve(opened.id, "ann", "mended", NOW)
        assert [finding.id for finding in book.list_open()] == [opened.id]
    with open_store(tmp_path / "store") as store:
        assert [row.id for row in store.reader.open_findings()] == [opened.id]
        assert store.reader.counts()["audit_log"] == 0


def test_versions_of_before_are_taken_over_once(tmp_path: Path) -> None:
    client = connect(Location(path=tmp_path / "data"))
    before = tuple(each for each in shipped() if each.version < 14)
    migrate(client, before)
    later = ("changed_at", "urgent", "signals", "suppressed_until", "suppressed")
    told = ("out_of_rotation_at", "back_in_rotation_at", "rotation_by", "rotation_why")
    known = [name for name in columns(FindingRow) if name not in (*later, *told)]
    for version in (1, 2):
        finding = Finding(
            id="F-OLD",
            version=version,
            target="glm",
            shape="canary",
            stratum="s1",
            verdict_class=VerdictClass.LEAK,
            opened_class=VerdictClass.LEAK,
            state=FindingState.CONFIRMED,
            first_seen=NOW,
            last_seen=NOW + timedelta(minutes=version),
            changed_at=NOW,
            trials=("t-1", "t-2")[:version],
        )
        row = dict(zip(columns(FindingRow), values(to_row(finding)), strict=True))
        client.insert("findings", [[row[name] for name in known]], known)
    whole = tuple(each for each in shipped() if each.version <= 14)
    migrate(client, whole)
    for statement in whole[-1].statements():
        client.command(statement)
    found = client.query(
        "SELECT version, changed_at, trial_count FROM finding_changes ORDER BY version"
    )
    assert found == [(n, NOW + timedelta(minutes=n), n) for n in (1, 2)]
    client.close()
