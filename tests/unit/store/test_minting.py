"""What is minted stands in the audit chain before it is sent, and never without its row."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.canaries import MarkerRegistry, Minter
from monitor.canaries.commitments import commitment
from monitor.chain import jump_of
from monitor.clock import SystemClock
from monitor.errors import StoreError
from monitor.model import Marker, ValueKind
from monitor.store import Store
from monitor.store.forget import Asked, Forgetting
from monitor.store.links import Action, Flaw, FlawKind, link_hash, verified
from monitor.store.rows import AnyRow, AuditRow
from monitor.store.spool import FullError
from tests.unit.store.samples import NOW, owner
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


def stored_links(store: Store) -> list[AuditRow]:
    store.flush()
    return [link for link in store.reader.audit_links(0, 10**6, 10**6) if link.action == "mint"]


def mint(store: Store, registry: MarkerRegistry, *kinds: str, tenant: str = "a") -> list[Marker]:
    minter = Minter(store.key, registry)
    of = replace(owner("minting"), tenant=tenant)
    when = NOW + timedelta(microseconds=123_456)
    markers = [minter.mint(of, when, kind=kind) for kind in kinds]
    store.markers.save(registry.take_unsaved())
    return markers


def test_a_link_holds_the_salted_hash_of_each_marker_and_nothing_else_of_it(store: Store) -> None:
    markers = mint(store, MarkerRegistry(store.key), "nonce", "planted", *ValueKind)
    link = stored_links(store)[-1]
    assert (link.actor, link.object) == ("davylamp", "7 markers")
    opened = {each.marker.id: each for each in store.markers.unsealed([m.id for m in markers])}
    assert [opened[marker.id].marker.text for marker in markers] == [m.text for m in markers]
    assert json.loads(link.details)["markers"] == [
        commitment(marker, opened[marker.id].salt) for marker in markers
    ]
    assert json.loads(link.details)["markers"] == [
        commitment(opened[marker.id].marker, opened[marker.id].salt) for marker in markers
    ]
    assert len({each.salt for each in opened.values()}) == 7
    said = repr(stored_links(store))
    assert not [m for m in markers if m.text in said or m.id in said]


def test_one_save_is_one_link_and_none_is_none(store: Store) -> None:
    before = len(stored_links(store))
    registry = MarkerRegistry(store.key)
    mint(store, registry, "nonce", "nonce", "planted")
    store.markers.save(())
    assert len(stored_links(store)) == before + 1
    assert store.audit.verify().whole


def test_the_salt_goes_with_the_text_when_it_expires_and_when_it_is_forgotten(
    store: Store, tmp_path: Path
) -> None:
    registry = MarkerRegistry(store.key)
    [expired] = mint(store, registry, "nonce", tenant="expired")
    store.markers.expire(NOW + timedelta(days=31))
    assert store.markers.unsealed([expired.id]) == ()
    [forgotten] = mint(store, registry, "nonce", tenant="forgotten")
    asked = Asked(tenant="forgotten")
    forgetting = Forgetting(store, tmp_path, asked, SystemClock())
    forgetting.erase(forgetting.found(), who="ann", on_erased=lambda *_: None)
    assert store.markers.unsealed([forgotten.id]) == ()
    # Nobody can tell any more what the links are of; they are all there.
    assert store.audit.verify().whole
    assert {row.sealed for row in store.reader.markers_of([expired.id, forgotten.id])} == {""}


def test_a_marker_minted_before_there_were_salts_is_still_read(store: Store) -> None:
    [marker] = mint(store, MarkerRegistry(store.key), "nonce")
    [row] = (store.flush(), store.reader.markers_of([marker.id]))[1]
    old_seal = AESGCM(store.key.derive("marker-seal")).encrypt(
        bytes(12), marker.text.encode(), marker.id.encode()
    )
    old = replace(row, id=marker.id, sealed=base64.b64encode(bytes(12) + old_seal).decode())
    assert store.markers._open(old) == (marker.text, b"")


def test_a_commitment_is_of_everything_and_of_a_documented_text() -> None:
    one = Marker(
        id="marker-1",
        text="bafog-dorim-lusab-hatov",
        owner=owner("minting"),
        kind="nonce",
        minted_at=NOW,
        expires_at=NOW + timedelta(days=30),
    )
    salt = bytes(range(16))
    first = commitment(one, salt)
    others = [
        *(commitment(replace(one, **{name: "x"}), salt) for name in ("id", "text", "kind")),
        *(
            commitment(replace(one, owner=replace(one.owner, **{name: "x"})), salt)
            for name in ("target", "tenant", "isolation", "trial", "epoch", "stratum_key")
        ),
        commitment(replace(one, owner=replace(one.owner, exchange=99)), salt),
        commitment(replace(one, minted_at=NOW + timedelta(milliseconds=1)), salt),
        commitment(replace(one, expires_at=NOW), salt),
        commitment(one, bytes(16)),
    ]
    assert len({first, *others}) == len(others) + 1
