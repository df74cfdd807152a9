"""What is minted stands in the audit chain before it is sent, and never without its row."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.chain import jump_of
from monitor.errors import StoreError
from monitor.store.links import Action, Flaw, FlawKind, link_hash, verified
from monitor.store.rows import AnyRow, AuditRow
from monitor.store.spool import FullError
from tests.unit.store.samples import NOW
from tests.unit.store.test_audit import Links, in_order, log_over

HASHES = ["a" * 64, "b" * 64]


def minted_chain(length: int, decisions: frozenset[int] = frozenset()) -> list[AuditRow]:
    """Return a chain of links of minting, with decisions at some places."""
    links = Links()
    audit = log_over(links)
    for number in range(2, length + 1):
        at = NOW + timedelta(seconds=number)
        if number in decisions:
            audit.append(Action.RESOLVE, f"F-{number}", actor="ann", at=at)
        else:
            audit.mint(HASHES, at=at, rows=())
    return links.links()


@given(length=st.integers(2, 90), decisions=st.frozensets(st.integers(2, 90), max_size=20))
@settings(max_examples=40, deadline=None)
def test_links_of_minting_point_over_others(length: int, decisions: frozenset[int]) -> None:
    links = minted_chain(length, decisions)
    assert verified(links).whole
    by_number = {link.seq: link for link in links}
    for link in links[1:]:
        if link.seq in decisions:
            continue
        said = json.loads(link.details)
        assert said["markers"] == HASHES
        jump = jump_of(link.seq)
        assert said.get("jump", 0) == jump
        assert said.get("jump_hash") == (by_number[jump].hash if jump else None)


def test_a_link_that_points_elsewhere_is_named() -> None:
    links = minted_chain(12)
    said = json.loads(links[11].details)
    wrong = json.dumps(said | {"jump_hash": "c" * 64}, sort_keys=True, separators=(",", ":"))
    forged = replace(links[11], details=wrong)
    links[11] = replace(forged, hash=link_hash(forged))
    assert verified(in_order(links)).flaws == (Flaw(kind=FlawKind.UNLINKED, seq=12, until=12),)


class FullLinks(Links):
    """A store without room."""

    full = False

    def put(self, rows: Sequence[AnyRow], *, wait: bool = True) -> bool:
        if self.full:
            raise FullError("no room")
        return super().put(rows, wait=wait)

    def flush(self) -> None:
        if self.full:
            pytest.fail("nobody may wait for a database that is away")


def test_want_of_room_is_said_at_once_and_the_chain_goes_on() -> None:
    links = FullLinks()
    audit = log_over(links)
    audit.mint(HASHES, at=NOW, rows=())
    links.full = True
    for _ in range(2):
        with pytest.raises(FullError):
            audit.mint(HASHES, at=NOW, rows=())
    links.full = False
    audit.mint(HASHES, at=NOW, rows=())
    assert [link.seq for link in links.links()] == [1, 2, 3]
    assert audit.verify().whole


def test_after_a_put_nobody_knows_the_end_of_pointers_are_read_back() -> None:
    links = Links()
    audit = log_over(links)
    for _ in range(6):
        audit.mint(HASHES, at=NOW, rows=())
    links.breaks_after = True
    with pytest.raises(StoreError):
        audit.mint(HASHES, at=NOW, rows=())
    links.breaks_after = False
    for _ in range(9):
        audit.mint(HASHES, at=NOW, rows=())
    assert audit.verify().whole
    assert json.loads(links.links()[15].details)["markers"] == HASHES
    assert json.loads(links.links()[11].details)["jump"] == 8


def test_heads_of_minting_are_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    audit = log_over(Links())
    for second in range(0, 150, 5):
        audit.mint(HASHES, at=NOW + timedelta(seconds=second), rows=())
    audit.append(Action.RESOLVE, "F-1", actor="ann", at=NOW)
    logged = [r.getMessage().split()[3] for r in caplog.records if r.name == "monitor.store.audit"]
    assert logged == ["2", "14", "26", "32"]
