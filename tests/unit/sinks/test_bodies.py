"""What was said is kept sealed, whole or not at all, and what is not kept is counted."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from monitor.config.storage import Retention
from monitor.configured import credentials_of, read_config
from monitor.conventions import BodyState, DropReason
from monitor.errors import ConfigError
from monitor.model import Outcome, Response, Trial, VerdictClass
from monitor.sinks import BodySink, sealer_of
from monitor.store import Store, WriterLimits, open_store
from monitor.store.bodies import MOST_TEXT_BYTES, Opener, Sealer
from monitor.store.exchange_text import kept_of
from monitor.store.rows import BodyRow
from tests.unit.config.known import GOOD
from tests.unit.store.body_keys import PRIVATE, pem_of, public_pem_of
from tests.unit.store.samples import SECRETS, exchange, good, trial, verdict

OPENER = Opener(PRIVATE)
KEY = "sk-of-tenant-a-0123456789"


class Taken:
    """A writer that keeps what it is given, or has no room."""

    def __init__(self, *, room: bool = True) -> None:
        self.rows: list[BodyRow] = []
        self._room = room

    def put(self, rows: Sequence[BodyRow], *, droppable: bool = False) -> bool:
        assert droppable
        if self._room:
            self.rows += rows
        return self._room


def sink_over(writer: object, counted: Callable[[BodyState, int], None], **how: object) -> BodySink:
    settings: dict[str, object] = {
        "only_not_good": False,
        "secrets": [KEY, "short"],
        "process": "process-1",
        "count": counted,
    }
    return BodySink(writer, Sealer(PRIVATE.public_key()), **(settings | how))  # type: ignore[arg-type]


def delivered(
    said: Trial, judged: object = None, *, room: bool = True, **how: object
) -> tuple[list[BodyRow], Counter[BodyState]]:
    counted: Counter[BodyState] = Counter()
    taken = Taken(room=room)
    sink = sink_over(taken, lambda state, n: counted.update({state: n}), **how)
    sink.deliver(said, judged or good())  # type: ignore[arg-type]
    sink.close()
    return taken.rows, counted


def test_every_exchange_is_a_body_of_its_own_and_opens_to_all_of_it() -> None:
    said = trial()
    rows, counted = delivered(said, verdict())
    assert counted == {BodyState.KEPT: 2}
    assert [(row.trial, row.exchange, row.tenant) for row in rows] == [
        (said.id, each.index, each.tenant) for each in said.exchanges
    ]
    for row, each in zip(rows, said.exchanges, strict=True):
        kept = kept_of(OPENER.open(row.sealed, row.trial, row.exchange))
        assert kept.exchange == each
        assert kept.trial == replace(said, exchanges=())
        assert (kept.count, kept.process) == (2, "process-1")
        assert row.key_id == OPENER.key_id
        assert row.stored_at == verdict().decided_at
        assert not any(secret in str(row) for secret in SECRETS)


def test_evidence_of_a_finding_is_held() -> None:
    assert {row.held for row in delivered(trial(), verdict(finding="F-1"))[0]} == {True}
    assert {row.held for row in delivered(trial(), verdict())[0]} == {False}


@pytest.mark.parametrize(
    ("outcome", "verdict_class", "kept"),
    [
        (Outcome.GOOD, VerdictClass.NONE, 0),
        (Outcome.GOOD, VerdictClass.SUSPECT, 2),
        (Outcome.BAD, VerdictClass.WRONG, 2),
        (Outcome.ERROR, VerdictClass.NONE, 2),
        (Outcome.INVALID, VerdictClass.NONE, 2),
    ],
)
def test_only_what_is_not_good_is_kept_if_no_more_is_wanted(
    outcome: Outcome, verdict_class: VerdictClass, kept: int
) -> None:
    judged = verdict(outcome=outcome, verdict_class=verdict_class)
    rows, counted = delivered(trial(), judged, only_not_good=True)
    assert len(rows) == counted[BodyState.KEPT] == kept
    assert len(delivered(trial(), judged)[0]) == 2


def test_what_finds_no_room_is_counted_as_shed() -> None:
    assert delivered(trial(), room=False) == ([], {BodyState.SHED: 2})


def test_a_trial_with_a_text_beyond_the_bound_is_not_kept_at_all() -> None:
    long = exchange(1, response=Response(text="a" * (MOST_TEXT_BYTES + 1)))
    said = trial(exchanges=(exchange(0), long))
    assert delivered(said) == ([], {BodyState.TOO_LARGE: 2})


def test_a_trial_that_is_too_large_sealed_is_not_kept_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("monitor.sinks.bodies.MOST_SEALED_CHARACTERS", 1000)
    assert delivered(trial()) == ([], {BodyState.TOO_LARGE: 2})


@pytest.mark.parametrize("place", ["text", "other_text", "reasoning_text"])
def test_a_credential_that_a_server_repeats_is_never_kept(place: str) -> None:
    answer = replace(Response(text=""), **{place: f"Authorization: Bearer {KEY}\n"})
    said = trial(exchanges=(exchange(0, response=answer), exchange(1)))
    assert delivered(said) == ([], {BodyState.HOLDS_KEY: 2})


def test_words_as_short_as_no_key_is_hide_nothing() -> None:
    said = trial(exchanges=(exchange(0, response=Response(text="a short answer")),))
    assert delivered(said)[1] == {BodyState.KEPT: 1}


def test_a_trial_without_exchanges_has_nothing_to_keep() -> None:
    assert delivered(trial(exchanges=())) == ([], {})


def test_no_text_is_in_clear_in_table_spool_file_or_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    counted: Counter[BodyState] = Counter()

    def deliver(store: Store) -> None:
        sink = sink_over(store.writer, lambda state, n: counted.update({state: n}))
        for number in range(3):
            sink.deliver(trial(number), verdict(number))

    kept = Retention(bodies_days=3650, verdicts_days=3650)
    limits = WriterLimits(batch_seconds=3600)
    with open_store(tmp_path, limits=limits, retention=kept) as store:
        deliver(store)
        waiting = [file for file in (tmp_path / "spool").rglob("*") if file.is_file()]
        assert sum(file.stat().st_size for file in waiting) > 1000
        assert_nothing_in_clear(tmp_path)
        store.flush()
        rows = store.writer.run(lambda client: client.query("SELECT * FROM bodies"))
        assert len(rows) == 6
        assert not any(secret in str(rows) for secret in SECRETS)
    assert counted == {BodyState.KEPT: 6}
    assert_nothing_in_clear(tmp_path)
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert not any(secret in said for secret in SECRETS)


def test_a_full_spool_sheds_bodies_until_there_is_room(tmp_path: Path) -> None:
    counted: Counter[BodyState] = Counter()
    limits = WriterLimits(batch_seconds=3600, max_bytes=20_000, patience_seconds=30)
    with open_store(tmp_path, limits=limits) as store:
        sink = sink_over(store.writer, lambda state, n: counted.update({state: n}))
        for number in range(20):
            sink.deliver(trial(number), verdict(number))
        assert counted[BodyState.KEPT] + counted[BodyState.SHED] == 40
        shed = counted[BodyState.SHED]
        assert shed > counted[BodyState.KEPT] > 0
        assert store.writer.stats().dropped_rows[DropReason.SHED] == counted[BodyState.SHED]
        store.flush()
        sink.deliver(trial(99), verdict(99))
        assert counted == {BodyState.KEPT: 42 - shed, BodyState.SHED: shed}


def assert_nothing_in_clear(folder: Path) -> None:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert len(files) > 3
    for file in files:
        content = file.read_bytes()
        assert not [s for s in SECRETS if s.encode() in content], file


BODIES = "storage:\n  bodies: {public_key_file: keys/reader.pem}\n"


def configured(folder: Path, pem: bytes | None) -> str:
    (folder / "keys").mkdir()
    if pem is not None:
        (folder / "keys" / "reader.pem").write_bytes(pem)
    file = folder / "davylamp.yaml"
    file.write_text(GOOD + BODIES, encoding="utf-8")
    return str(file)


def test_the_key_is_found_beside_the_configuration(tmp_path: Path) -> None:
    sealer = sealer_of(read_config(configured(tmp_path, public_pem_of(PRIVATE))))
    assert sealer is not None
    assert sealer.key_id == OPENER.key_id


@pytest.mark.parametrize(
    ("pem", "words"),
    [
        (None, "cannot be read: no such file or directory (openssl pkey -in PRIVATE -pubout"),
        (b"\xff\xfe", "holds no public key in PEM (openssl pkey"),
        (pem_of(PRIVATE), "holds a private key, and must hold the public one (keep the private"),
        (pem_of(PRIVATE, b"words"), "holds a private key, and must hold the public one"),
    ],
)
def test_a_key_file_of_no_use_is_an_error_with_file_line_path_and_remedy(
    tmp_path: Path, pem: bytes | None, words: str
) -> None:
    file = configured(tmp_path, pem)
    with pytest.raises(ConfigError) as caught:
        read_config(file)
    line = GOOD.count("\n") + 2
    said = str(caught.value)
    place = f"{file}:{line}: storage.bodies.public_key_file: key file keys/reader.pem "
    assert said.startswith(place + words)
    assert not any(each.decode("latin-1") in said for each in (pem or b"").splitlines())


def test_without_a_section_nothing_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "davylamp.yaml"
    file.write_text(GOOD, encoding="utf-8")
    assert sealer_of(read_config(str(file))) is None


def test_every_key_that_goes_to_a_target_is_a_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "davylamp.yaml"
    headers = "    headers_env: {X-Team: TEAM}\n    tenants:"
    file.write_text(GOOD.replace("    tenants:", headers, 1), encoding="utf-8")
    (tmp_path / "victim-b.key").write_text("key-of-victim-b\n", encoding="ascii")
    for name, value in (("TEAM", "key-of-team"), ("DONOR_A_KEY", "key-of-donor-a")):
        monkeypatch.setenv(name, value)
    config = read_config(str(file))
    assert credentials_of(config) == {"key-of-team", "key-of-donor-a", "key-of-victim-b"}


def test_two_keys_have_two_names() -> None:
    assert Opener(X25519PrivateKey.generate()).key_id != OPENER.key_id
