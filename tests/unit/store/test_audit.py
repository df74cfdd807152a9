"""The audit chain: every change is found; what was cut off its end, by a head seen outside."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.canaries import InstallationKey
from monitor.errors import StoreError
from monitor.store import Action, AuditLog, open_store
from monitor.store.links import Flaw, FlawKind, Head, Verified, link_hash, verified
from monitor.store.rows import AnyRow, AuditRow
from tests.unit.store.samples import NOW

KEY = InstallationKey(bytes(range(32)))
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)


@dataclass
class Links:
    """The rows of a chain in memory, as the store would keep them."""

    rows: list[AnyRow] = field(default_factory=list)
    refuses: bool = False
    breaks_after: bool = False

    def put(self, rows: Sequence[AnyRow], *, wait: bool = True) -> bool:
        if self.refuses:
            raise StoreError("no room")
        self.rows += rows
        if self.breaks_after:
            raise StoreError("kept, but nobody was told")
        return True

    def flush(self) -> None:
        """Everything is there at once."""

    def links(self) -> list[AuditRow]:
        return [row for row in self.rows if isinstance(row, AuditRow)]

    def audit_head(self) -> tuple[int, str] | None:
        last = max(self.links(), key=lambda link: link.seq, default=None)
        return (last.seq, last.hash) if last else None

    def audit_links_at(self, numbers: Sequence[int]) -> list[AuditRow]:
        return sorted((row for row in self.links() if row.seq in numbers), key=lambda row: row.seq)

    def audit_number_from(self, number: int) -> int | None:
        return min((row.seq for row in self.links() if row.seq >= number), default=None)

    def audit_links(self, number: int, below: int, most: int) -> list[AuditRow]:
        found = [row for row in self.links() if number <= row.seq < below]
        return sorted(found, key=lambda row: (row.seq, row.hash))[:most]


def log_over(links: Links) -> AuditLog:
    return AuditLog(KEY, links, links)  # type: ignore[arg-type]


def chain_of(length: int, words: Sequence[str] = ()) -> list[AuditRow]:
    links = Links()
    audit = log_over(links)
    for number in range(length - 1):
        said = words[number % len(words)] if words else f"F-{number}"
        audit.append(
            Action.RESOLVE, said, actor="ann", at=NOW + timedelta(hours=number), details={"n": 1}
        )
    return links.links()


def in_order(links: Iterable[AuditRow]) -> list[AuditRow]:
    return sorted(links, key=lambda link: (link.seq, link.hash))


def kinds(found: Verified) -> set[FlawKind]:
    return {flaw.kind for flaw in found.flaws}


def test_the_first_link_names_the_installation_and_each_holds_the_hash_before() -> None:
    links = chain_of(4)
    assert [link.seq for link in links] == [1, 2, 3, 4]
    assert links[0].action == "begin"
    assert json.loads(links[0].details) == {"installation": KEY.fingerprint}
    assert [link.previous for link in links] == ["", *(link.hash for link in links[:-1])]
    assert all(link_hash(link) == link.hash for link in links)
    found = verified(links)
    assert found.whole
    assert (found.head, found.installation) == (Head(seq=4, hash=links[3].hash), KEY.fingerprint)


def test_the_hash_of_a_link_never_changes_between_versions() -> None:
    link = AuditRow(
        seq=2,
        at=NOW,
        actor="Zoë",
        action="resolve",
        object="F-1",
        details='{"n":1}',
        previous="ab",
        hash="",
    )
    # printf '%s' '["davylamp-audit-1",2,"2026-11-02T12:30:15.250Z","Zo\u00eb","resolve","F-1",
    #   "{\"n\":1}","ab"]' (one line) | sha256sum
    assert link_hash(link) == "cce67387c0e5512bfec20d28102935ec6572cc1035dc7350f0dd6f0b93e6e709"


@given(length=st.integers(3, 8), place=st.integers(0, 7), data=st.data())
@settings(max_examples=150, deadline=None)
def test_every_single_change_is_found(length: int, place: int, data: st.DataObject) -> None:
    links = chain_of(length)
    place %= length
    old = links[place]
    new = data.draw(
        st.one_of(
            TEXT.map(lambda text: replace(old, actor=text)),
            TEXT.map(lambda text: replace(old, action=text)),
            TEXT.map(lambda text: replace(old, object=text)),
            TEXT.map(lambda text: replace(old, details=text)),
            TEXT.map(lambda text: replace(old, previous=text)),
            TEXT.map(lambda text: replace(old, hash=text)),
            st.integers(1, 10**6).map(
                lambda n: replace(old, at=old.at + timedelta(milliseconds=n))
            ),
            st.integers(0, 2**64 - 1).map(lambda n: replace(old, seq=n)),
        ).filter(lambda link: link != old)
    )
    links[place] = new
    assert not verified(in_order(links)).whole


@given(length=st.integers(3, 8), place=st.integers(0, 7), text=TEXT)
@settings(max_examples=60, deadline=None)
def test_a_link_that_was_hashed_again_is_found(length: int, place: int, text: str) -> None:
    links = chain_of(length)
    place %= length
    head = links[-1].hash
    changed = replace(links[place], object=f"!{text}")
    links[place] = replace(changed, hash=link_hash(changed))
    if place < length - 1:
        assert verified(in_order(links)).flaws == (
            Flaw(kind=FlawKind.UNLINKED, seq=place + 2, until=place + 2),
        )
    found = verified(in_order(links), published=head)
    assert (FlawKind.HEAD in kinds(found)) == (place == length - 1)


@given(length=st.integers(3, 8), place=st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_a_removed_link_is_named(length: int, place: int) -> None:
    links = chain_of(length)
    gone = links.pop(place % (length - 1))
    assert verified(links).flaws == (Flaw(kind=FlawKind.MISSING, seq=gone.seq, until=gone.seq),)


@given(length=st.integers(3, 8), one=st.integers(0, 7), other=st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_links_that_changed_places_are_named(length: int, one: int, other: int) -> None:
    links = chain_of(length)
    one, other = one % length, other % length
    if one == other:
        return
    first, second = links[one], links[other]
    links[one], links[other] = replace(second, seq=first.seq), replace(first, seq=second.seq)
    found = verified(in_order(links))
    named = {(flaw.kind, flaw.seq) for flaw in found.flaws}
    assert named >= {(FlawKind.CHANGED, one + 1), (FlawKind.CHANGED, other + 1)}
    assert {flaw.kind for flaw in found.flaws} <= {FlawKind.CHANGED, FlawKind.UNLINKED}


@given(length=st.integers(3, 8), place=st.integers(0, 7), text=TEXT, rehashed=st.booleans())
@settings(max_examples=60, deadline=None)
def test_an_inserted_link_is_named(length: int, place: int, text: str, rehashed: bool) -> None:
    links = chain_of(length)
    own = links[place % length]
    forged = replace(own, object=f"!{text}")
    if rehashed:
        forged = replace(forged, hash=link_hash(forged))
    found = verified(in_order([*links, forged]))
    assert (FlawKind.FORKED, own.seq) in {(flaw.kind, flaw.seq) for flaw in found.flaws}


def test_a_link_that_stands_there_twice_is_named_as_harmless_as_it_is() -> None:
    links = chain_of(3)
    assert verified(in_order([*links, links[1]])).flaws == (
        Flaw(kind=FlawKind.DOUBLED, seq=2, until=2),
    )


@given(length=st.integers(2, 8), left=st.integers(0, 7))
@settings(max_examples=40, deadline=None)
def test_what_was_cut_off_the_end_is_found_by_a_head_outside_and_by_nothing_else(
    length: int, left: int
) -> None:
    links = chain_of(length)
    left %= length
    assert verified(links[:left]).whole
    found = verified(links[:left], published=links[-1].hash)
    assert kinds(found) == {FlawKind.HEAD}
    assert found.published is None
    again = verified(links, published=links[left].hash)
    assert (again.whole, again.published) == (True, left + 1)


def test_a_chain_cut_while_it_is_open_is_found_by_who_wrote_it() -> None:
    links = Links()
    audit = log_over(links)
    for number in range(3):
        audit.append(Action.RESOLVE, f"F-{number}", actor="ann", at=NOW)
    assert audit.verify().whole
    del links.rows[2:]
    assert audit.verify().flaws == (Flaw(kind=FlawKind.HEAD, seq=3, until=4),)


@given(words=st.lists(st.text(max_size=400), min_size=1, max_size=5), actor=st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_text_can_be_in_a_link(words: list[str], actor: str) -> None:
    links = Links()
    audit = log_over(links)
    for word in words:
        audit.append(Action.CALIBRATE, word, actor=actor, at=NOW, details={word: word})
    assert audit.verify().whole
    assert all(len(link.actor) <= 200 and len(link.object) <= 300 for link in links.links())


def test_memory_does_not_grow_with_what_is_wrong() -> None:
    wrong = (replace(link, object="x") for _ in range(400) for link in chain_of(2)[:1])
    found = verified(replace(link, seq=n * 2) for n, link in enumerate(wrong, 1))
    assert (len(found.flaws), found.flaw_count) == (100, 800)


def test_after_a_put_that_failed_the_head_is_what_the_store_has() -> None:
    links = Links()
    audit = log_over(links)
    audit.append(Action.RESOLVE, "F-1", actor="ann", at=NOW)
    links.refuses = True
    with pytest.raises(StoreError):
        audit.append(Action.RESOLVE, "F-2", actor="ann", at=NOW)
    links.refuses, links.breaks_after = False, True
    with pytest.raises(StoreError):
        audit.append(Action.RESOLVE, "F-3", actor="ann", at=NOW)
    links.breaks_after = False
    audit.append(Action.RESOLVE, "F-4", actor="ann", at=NOW)
    assert [link.object for link in links.links()] == ["audit", "F-1", "F-3", "F-4"]
    assert audit.verify().whole


def test_an_erasure_without_its_end_is_known() -> None:
    links = Links()
    audit = log_over(links)
    for action, subject in (
        (Action.FORGET, "trial t-1"),
        (Action.FORGET, "tenant a"),
        (Action.FORGOTTEN, "trial t-1"),
    ):
        audit.append(action, subject, actor="ann", at=NOW)
    assert audit.verify().unended == ("tenant a",)
    for limit in ("2026-11-02T00:00:00Z", "2026-10-02T00:00:00Z"):
        audit.append(Action.FORGET, f"before {limit}", actor="ann", at=NOW)
    audit.append(Action.FORGOTTEN, "before 2026-10-03T00:00:00Z", actor="ann", at=NOW)
    assert audit.verify().unended == ("tenant a", "before 2026-11-02T00:00:00Z")


def test_the_chain_is_read_back_and_goes_on_after_a_restart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with open_store(tmp_path / "store") as store:
        assert store.audit.head is None
        first = store.audit.append(Action.RESOLVE, "F-1", actor="ann\x00'", at=NOW)
    with open_store(tmp_path / "store") as store:
        # What the metric shows is known before anybody asks the store.
        assert store.audit.count == 2
        assert store.audit.head == first
        second = store.audit.append(Action.DISMISS, "F-2", actor="bob", at=NOW - timedelta(days=3))
        found = store.audit.verify(first.hash)
        assert (found.whole, found.published, found.head) == (True, 2, second)
        assert found.installation == store.key.fingerprint
        assert [link.action for link in store.audit.links(2)] == ["resolve", "dismiss"]
        assert store.reader.counts()["audit_log"] == 3
    logged = [r.getMessage() for r in caplog.records if r.name == "monitor.store.audit"]
    assert logged == [f"audit chain: link {n} is {h.hash}" for n, h in ((2, first), (3, second))]


def test_what_is_done_to_the_table_is_found(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        for number in range(6):
            store.audit.append(Action.RESOLVE, f"F-{number}", actor="ann", at=NOW)
        head = store.audit.head
        assert head is not None

        def after(statement: str) -> Verified:
            store.writer.run(
                lambda client: client.command(f"{statement} SETTINGS mutations_sync = 2")
            )
            return store.audit.verify()

        changed = after("ALTER TABLE audit_log UPDATE object = 'F-9' WHERE seq = 3")
        assert changed.flaws == (Flaw(kind=FlawKind.CHANGED, seq=3, until=3),)
        removed = after("ALTER TABLE audit_log DELETE WHERE seq IN (3, 4)")
        assert removed.flaws == (Flaw(kind=FlawKind.MISSING, seq=3, until=4),)
        cut = after("ALTER TABLE audit_log DELETE WHERE seq > 2")
        assert cut.flaws == (Flaw(kind=FlawKind.HEAD, seq=3, until=7),)
        emptied = after("ALTER TABLE audit_log DELETE WHERE true")
        assert emptied.flaws == (Flaw(kind=FlawKind.HEAD, seq=1, until=7),)


def test_many_threads_make_one_chain(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:

        def append(number: int) -> None:
            for each in range(20):
                store.audit.append(Action.RESOLVE, f"F-{number}-{each}", actor="ann", at=NOW)

        threads = [threading.Thread(target=append, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = store.audit.verify()
        assert (found.whole, found.head) == (True, store.audit.head)
        assert found.head is not None
        assert found.head.seq == 101
