"""Markers at rest: sealed while they live, hashes only afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from monitor.canaries import InstallationKey, MarkerRegistry, Minter, scan_answer
from monitor.canaries.values import key_of
from monitor.errors import StoreError
from monitor.findings import findings_in
from monitor.model import Marker, ValueKind
from monitor.sinks import ClickHouseSink
from monitor.store import Store
from monitor.store.markers import MarkerStore
from monitor.store.rows import MarkerRow, values
from tests.unit.store.samples import NOW, leak_signal, owner, trial, verdict


def minted(store: Store, target: str, seed: int, amount: int = 3) -> list[Marker]:
    registry = MarkerRegistry(store.key)
    minter = Minter(store.key, registry, random_bits=Random(seed).getrandbits)
    markers = [
        minter.mint(replace(owner(target), exchange=number), NOW) for number in range(amount)
    ]
    store.markers.save(registry.take_unsaved())
    store.flush()
    return markers


def test_a_registry_is_the_same_after_a_restart(store: Store) -> None:
    markers = minted(store, "restart", 1)
    registry = MarkerRegistry(store.key)
    for entry in store.markers.load():
        registry.restore(entry)
    for marker in markers:
        found_entry = registry.entry(marker.id)
        assert found_entry is not None
        assert found_entry.owner == marker.owner
        assert found_entry.groups == tuple(marker.text.split("-"))
        assert found_entry.minted_at == marker.minted_at
        assert found_entry.expires_at == marker.expires_at
        found = registry.with_part(2, marker.text.split("-")[2])
        assert marker.id in [each.id for each in found]


def test_no_marker_is_stored_in_clear(store: Store) -> None:
    markers = minted(store, "clear", 2)
    rows = [values(row) for row in store.reader.markers()]
    assert not [m for m in markers for group in m.text.split("-") if group in repr(rows)]


def test_an_expired_text_is_gone_and_its_hashes_stay(store: Store) -> None:
    gone, kept, other = minted(store, "expired", 3)
    before = {entry.id: entry for entry in store.markers.load()}
    store.markers.expire(NOW)
    assert {entry.id: entry for entry in store.markers.load()} == before
    evidence = replace(leak_signal("expired"), marker_id=kept.id)
    found = verdict(1, "expired", signals=(evidence,))
    findings_in(store, NOW).record(found)
    ClickHouseSink(store.writer, store.hasher).deliver(trial(1, "expired"), found)
    store.markers.expire(NOW + timedelta(days=31))
    after = {entry.id: entry for entry in store.markers.load()}
    assert after[kept.id] == before[kept.id]
    for marker in (gone, other):
        assert after[marker.id] == replace(before[marker.id], groups=None)


def planted(store: Store, target: str, seed: int) -> list[Marker]:
    registry = MarkerRegistry(store.key)
    minter = Minter(store.key, registry, random_bits=Random(seed).getrandbits)
    values = [minter.mint(owner(target), NOW, kind=kind) for kind in ValueKind]
    store.markers.save(registry.take_unsaved())
    store.flush()
    return values


def restored(store: Store) -> MarkerRegistry:
    registry = MarkerRegistry(store.key)
    for entry in store.markers.load():
        registry.restore(entry)
    return registry


def test_planted_values_are_sealed_and_found_again_after_a_restart(store: Store) -> None:
    values = planted(store, "planted", 6)
    rows = {row.id: row for row in store.reader.markers()}
    assert [rows[value.id].kind for value in values] == list(ValueKind)
    written = repr(rows).lower()
    for value in values:
        assert value.text.lower() not in written
        assert key_of(ValueKind(value.kind), value.text) not in written
    registry = restored(store)
    for value in values:
        [match] = scan_answer(f"It is {value.text}", "hello", registry).matches
        assert (match.marker_id, match.owner, match.expired) == (value.id, value.owner, False)
        assert registry.entry(value.id).groups == (value.text,)


def test_an_expired_planted_value_is_found_by_its_hashes_alone(store: Store) -> None:
    values = planted(store, "planted-expired", 7)
    store.markers.expire(NOW + timedelta(days=31))
    sealed = {row.id: row.sealed for row in store.reader.markers()}
    assert {sealed[value.id] for value in values} == {""}
    registry = restored(store)
    for value in values:
        [match] = scan_answer(value.text.upper(), "hello", registry).matches
        assert (match.marker_id, match.owner, match.expired) == (value.id, value.owner, True)


def test_another_installation_key_cannot_open_them(store: Store) -> None:
    minted(store, "key", 4)
    key = InstallationKey(bytes(32))
    stranger = MarkerStore(key, store.writer, store.reader, store.location, store.audit)
    with pytest.raises(StoreError, match="sealed under another installation key"):
        stranger.load()


def test_a_seal_cannot_be_moved_to_another_marker(store: Store) -> None:
    one, two, _ = minted(store, "moved", 5)
    rows = {row.id: row for row in store.reader.markers()}
    moved: MarkerRow = replace(rows[one.id], sealed=rows[two.id].sealed)
    with pytest.raises(StoreError, match=f"marker {one.id}"):
        store.markers._open(moved)
