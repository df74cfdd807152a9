"""Sealed bodies open with the private key in their own place, and in no other way."""

from __future__ import annotations

import base64
import zlib

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.errors import StoreError
from monitor.store import bodies
from monitor.store.bodies import (
    MOST_TEXT_BYTES,
    KeyFileError,
    Opener,
    Sealer,
    TooLargeError,
    padded_size,
)
from tests.unit.store.body_keys import OPENER, PRIVATE, SEALER, pem_of, public_pem_of

SECRET = b"the customer's own words"


@settings(max_examples=60, deadline=None)
@given(text=st.binary(max_size=3000), trial=st.text(max_size=12), exchange=st.integers(0, 999))
def test_what_is_sealed_opens_in_its_place(text: bytes, trial: str, exchange: int) -> None:
    assert OPENER.open(SEALER.seal(text, trial, exchange), trial, exchange) == text


def test_the_same_text_is_never_sealed_alike_and_never_in_clear() -> None:
    one, other = (SEALER.seal(SECRET * 40, "trial-1", 0) for _ in range(2))
    assert one != other
    assert SECRET not in base64.b64decode(one)
    assert zlib.compress(SECRET * 40)[:16] not in base64.b64decode(one)


@pytest.mark.parametrize(("trial", "exchange"), [("trial-2", 0), ("trial-1", 1), ("", 0)])
def test_a_body_that_was_moved_does_not_open(trial: str, exchange: int) -> None:
    sealed = SEALER.seal(SECRET, "trial-1", 0)
    with pytest.raises(StoreError, match="in another place, or changed since") as caught:
        OPENER.open(sealed, trial, exchange)
    assert SECRET.decode() not in str(caught.value)


def test_another_key_does_not_open_it() -> None:
    other = Opener(X25519PrivateKey.generate())
    assert other.key_id != SEALER.key_id
    with pytest.raises(StoreError, match="sealed to another key"):
        other.open(SEALER.seal(SECRET, "trial-1", 0), "trial-1", 0)


def test_any_flipped_bit_is_noticed() -> None:
    sealed = base64.b64decode(SEALER.seal(b"short", "trial-1", 0))
    for bit in range(0, len(sealed) * 8, 7):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << (bit % 8)
        with pytest.raises(StoreError):
            OPENER.open(base64.b64encode(changed).decode(), "trial-1", 0)


@pytest.mark.parametrize("sealed", ["", "no base64!", "AQ==", "AgAA", "A" * 400, "é"])
def test_what_is_no_sealed_text_is_said_to_be_none(sealed: str) -> None:
    with pytest.raises(StoreError, match="the body of trial-1, exchange 0,"):
        OPENER.open(sealed, "trial-1", 0)


def test_a_text_beyond_the_bound_is_refused_whole() -> None:
    with pytest.raises(TooLargeError, match="not sealed"):
        SEALER.seal(bytes(MOST_TEXT_BYTES + 1), "trial-1", 0)


def test_a_text_of_the_bound_is_sealed_and_opened() -> None:
    text = bytes(MOST_TEXT_BYTES)
    assert OPENER.open(SEALER.seal(text, "trial-1", 0), "trial-1", 0) == text


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has the public key can seal anything: it inflates to the bound and no further."""
    monkeypatch.setattr(bodies, "MOST_TEXT_BYTES", 1 << 40)
    sealed = SEALER.seal(bytes(MOST_TEXT_BYTES + 1), "trial-1", 0)
    monkeypatch.setattr(bodies, "MOST_TEXT_BYTES", MOST_TEXT_BYTES)
    with pytest.raises(StoreError, match="larger than any that is sealed"):
        OPENER.open(sealed, "trial-1", 0)


def test_lengths_come_in_steps_of_an_eighth() -> None:
    assert [padded_size(size) for size in (1, 256, 257, 2048, 2049, 5000)] == [
        *(256, 256, 512, 2048, 2304, 5120)
    ]
    assert all(size <= padded_size(size) <= max(size * 9 / 8, size + 256) for size in range(20_000))
    lengths = {len(SEALER.seal(bytes([n]) * n, "trial-1", 0)) for n in range(1, 200)}
    assert len(lengths) == 1


def test_keys_are_read_from_pem_under_a_passphrase_or_not() -> None:
    sealed = Sealer.of_pem(public_pem_of(PRIVATE)).seal(SECRET, "trial-1", 0)
    for opener in (
        Opener.of_pem(pem_of(PRIVATE)),
        Opener.of_pem(pem_of(PRIVATE, b"long words"), "long words"),
    ):
        assert opener.key_id == SEALER.key_id
        assert opener.open(sealed, "trial-1", 0) == SECRET


RSA = generate_private_key(65537, 2048)
RSA_PEM = RSA.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
)
RSA_PUBLIC_PEM = RSA.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
# A point of small order: every exchange with it gives nothing but zeros.
ZERO_PEM = (
    b"-----BEGIN PUBLIC KEY-----\n"
    + base64.b64encode(bytes.fromhex("302a300506032b656e032100") + bytes(32))
    + b"\n-----END PUBLIC KEY-----\n"
)


@pytest.mark.parametrize(
    ("pem", "words"),
    [
        (b"", "no public key in PEM"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "no public key in PEM"),
        (pem_of(PRIVATE), "holds a private key, and must hold the public one"),
        (pem_of(PRIVATE, b"words"), "holds a private key, and must hold the public one"),
        (RSA_PUBLIC_PEM, "a key of another kind"),
        (ZERO_PEM, "no private key belongs to"),
    ],
)
def test_a_file_that_holds_no_public_key_is_refused(pem: bytes, words: str) -> None:
    with pytest.raises(KeyFileError, match=words) as caught:
        Sealer.of_pem(pem)
    said = str(caught.value)
    assert not any(line.decode() in said for line in pem.splitlines() if line)


@pytest.mark.parametrize(
    ("pem", "passphrase", "words"),
    [
        (b"", None, "no private key in PEM"),
        (public_pem_of(PRIVATE), None, "holds a public key, and must hold the private one"),
        (pem_of(PRIVATE, b"words"), None, "a private key under a passphrase"),
        (pem_of(PRIVATE, b"words"), "other", "does not open with this passphrase"),
        (pem_of(PRIVATE), "words", "needs no passphrase"),
        (RSA_PEM, None, "of another kind than X25519"),
    ],
)
def test_a_file_that_holds_no_private_key_is_refused(
    pem: bytes, passphrase: str | None, words: str
) -> None:
    with pytest.raises(KeyFileError, match=words) as caught:
        Opener.of_pem(pem, passphrase)
    assert "words" not in str(caught.value)
