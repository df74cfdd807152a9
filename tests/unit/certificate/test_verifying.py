"""A certificate fails once anything in it is changed, even by who can sign it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.canaries import InstallationKey
from monitor.certificate.issuing import Export, issue
from monitor.certificate.keys import PublicKey, Signer
from monitor.certificate.record import Certificate, canonical, to_sign
from monitor.certificate.verifying import MOST_BYTES, Inclusion, verify
from monitor.errors import UsageError
from monitor.model import ValueKind
from monitor.store import open_store
from tests.unit.certificate import forged
from tests.unit.certificate.forged import Forger
from tests.unit.certificate.leaked import Leaked
from tests.unit.store.samples import NOW


@dataclass(frozen=True)
class Issued:
    content: bytes
    signer: Signer
    head: str

    @property
    def said(self) -> Any:
        return json.loads(self.content)

    def signed_again(self, change: Callable[[Any], object]) -> bytes:
        """Return it changed, and signed by the installation itself."""
        said = self.said
        change(said)
        changed = Certificate.model_validate_json(json.dumps(said))
        signature = self.signer.sign(to_sign(changed))
        return canonical(changed.model_copy(update={"signature": signature}))


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Issued]:
    with open_store(tmp_path_factory.mktemp("store") / "davylamp-data") as store:
        scene = Leaked(store, "glm")
        markers = scene.mint(1, "nonce", ValueKind.CARD)
        for _ in range(4):
            scene.mint(2)
        finding = scene.leak(3, markers)
        text = issue(store, "test", Export(finding=finding, who="ann"), NOW + timedelta(hours=2))
        head = store.audit.head
        assert head is not None
        yield Issued(f"{text}\n".encode(), Signer(store.key), head.hash)


def problems(issued: Issued, content: bytes, head: str | None = None) -> tuple[str, ...]:
    return verify(content, issued.signer.public, head).problems


def test_as_it_was_issued_it_holds(issued: Issued) -> None:
    found = verify(issued.content, issued.signer.public)
    assert (found.problems, found.inclusion) == ((), Inclusion.NOT_CHECKED)
    assert verify(issued.content, issued.signer.public, issued.head).inclusion is Inclusion.SHOWN


def test_any_changed_byte_is_found(issued: Issued) -> None:
    rng = Random(7)
    # Each fourth, for the sake of time.
    for place in range(rng.randrange(4), len(issued.content), 4):
        changed = bytearray(issued.content)
        changed[place] ^= 1 << rng.randrange(8)
        assert problems(issued, bytes(changed)), place


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_cut_insertion_or_replacement_is_found(issued: Issued, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(issued.content)))
    end = data.draw(st.integers(start, min(start + 40, len(issued.content))))
    new = data.draw(st.binary(max_size=20))
    changed = issued.content[:start] + new + issued.content[end:]
    if changed != issued.content:
        assert problems(issued, changed)


def values(said: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = said.items() if isinstance(said, dict) else enumerate(said)
    for key, each in inner:
        if isinstance(each, dict | list):
            yield from values(each, (*path, key))
        else:
            yield (*path, key)


def other(value: Any) -> Any:
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1") if value else "x"
    return 7 if value is None else value + 1


def test_any_changed_value_is_found_though_it_is_written_as_it_should_be(issued: Issued) -> None:
    paths = list(values(issued.said))
    assert len(paths) > 80
    for path in paths:
        said = issued.said
        place = said
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = other(place[path[-1]])
        text = json.dumps(said, sort_keys=True, indent=2) + "\n"
        assert problems(issued, text.encode()), path


def test_another_key_verifies_nothing_whatever_the_file_names(issued: Issued) -> None:
    stranger = Signer(InstallationKey(bytes(32)))
    assert "yours is another" in verify(issued.content, stranger.public).problems[0]
    said = issued.said
    said["public_key"] = stranger.public.fingerprint
    renamed = json.dumps(said, sort_keys=True, indent=2).encode() + b"\n"
    assert "signature" in verify(renamed, stranger.public).problems[0]


LIES: dict[str, tuple[Callable[[Any], object], str]] = {
    "text": (lambda c: c["markers"][0].update(text="babad-gutih-tugad-lusab"), "salted hash"),
    "owner": (lambda c: c["markers"][0].update(stratum_key="canary/long"), "salted hash"),
    "salt": (lambda c: c["markers"][0].update(salt="0" * 32), "salted hash"),
    "link": (lambda c: c["markers"][0].update(link=1), "salted hash"),
    "shape": (lambda c: c["markers"][0].update(text="any text at all"), "not written like"),
    "kind": (lambda c: c["markers"][1].update(kind="phone"), "not written like"),
    "unknown kind": (lambda c: c["markers"][1].update(kind="word"), "not written like"),
    "instant": (
        lambda c: c["markers"][0].update(minted_at="2026-02-31T00:00:00.000Z"),
        "an instant that there is not",
    ),
    "bits": (lambda c: c["sightings"][0].update(evidence_bits=29.9), "prove nothing"),
    "own": (
        lambda c: c["sightings"][0]["answered"].update(trial=c["markers"][0]["trial"]),
        "exchange's own",
    ),
    "tenant": (
        lambda c: c["sightings"][0]["answered"].update(tenant=c["markers"][0]["tenant"]),
        "tenants are not",
    ),
    "before": (
        lambda c: c["sightings"][0].update(decided_at="2026-01-01T00:00:00.000Z"),
        "after it was seen",
    ),
    "not shown": (lambda c: c["markers"].pop(), "not shown"),
    "nothing": (lambda c: c.update(sightings=[]), "no sighting"),
    "linked": (lambda c: c["chain"]["links"][-1].update(actor="eve"), "salted hash"),
    "head": (lambda c: c["chain"].update(head="0" * 64), "does not begin at the head"),
    "number": (lambda c: c["chain"].update(seq=9), "does not begin at the head"),
    "stray link": (
        lambda c: c["chain"]["links"].append(c["chain"]["links"][0] | {"actor": "eve"}),
        "does not lead to",
    ),
    "twice": (lambda c: c["chain"]["links"].append(c["chain"]["links"][0]), "twice"),
}


@pytest.mark.parametrize("lie", LIES)
def test_who_can_sign_cannot_lie(issued: Issued, lie: str) -> None:
    change, words = LIES[lie]
    found = problems(issued, issued.signed_again(change))
    assert any(words in problem for problem in found), found


# What gives each away, and whether the head that was given away shows its markers.
FORGERIES: list[tuple[Callable[[Forger], None], str, Inclusion]] = [
    (forged.same_number, "two different links of one number", Inclusion.NOT_SHOWN),
    (forged.jumped_to, "two different links of one number", Inclusion.NOT_SHOWN),
    (forged.fork, "two different links of one number", Inclusion.NOT_SHOWN),
    (forged.appended, "does not lead from the head you gave", Inclusion.NOT_SHOWN),
    (forged.gap, "points to another link", Inclusion.SHOWN),
    (forged.beside, "points to another link", Inclusion.SHOWN),
    (forged.renumbered, "points to another link", Inclusion.SHOWN),
    (forged.unnumbered, "points to another link", Inclusion.SHOWN),
    (forged.ahead, "points to another link", Inclusion.SHOWN),
]


@pytest.mark.parametrize(
    ("forge", "words", "inclusion"), FORGERIES, ids=[each.__name__ for each, *_ in FORGERIES]
)
def test_who_can_sign_cannot_forge_a_link_under_a_head_given_away(
    issued: Issued, forge: Callable[[Forger], None], words: str, inclusion: Inclusion
) -> None:
    content = issued.signed_again(lambda said: forge(Forger(said)))
    found = verify(content, issued.signer.public, issued.head)
    assert any(words in problem for problem in found.problems), found.problems
    assert found.inclusion is inclusion


def test_a_link_after_the_head_that_was_given_away_is_no_forgery(issued: Issued) -> None:
    def later(said: Any) -> None:
        forger = Forger(said)
        forger.top(forger.seq + 1, forger.head)

    found = verify(issued.signed_again(later), issued.signer.public, issued.head)
    assert (found.problems, found.inclusion) == ((), Inclusion.SHOWN)


def test_a_leak_is_not_shown_by_what_one_tenant_saw_of_itself(issued: Issued) -> None:
    def same(said: Any) -> None:
        for sighting in said["sightings"]:
            sighting["variant"] = "same_tenant"
            sighting["answered"]["tenant"] = said["markers"][0]["tenant"]

    assert "it calls a LEAK" in " ".join(problems(issued, issued.signed_again(same)))


def test_a_marker_minted_under_another_chain_is_not_included(issued: Issued) -> None:
    assert problems(issued, issued.content, "0" * 64) == (
        "its chain does not lead from the head you gave to every marker",
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no certificate of version 1"),
        (b"{", "no certificate of version 1"),
        (b"\xff\xfe", "no certificate of version 1"),
        (b"[]", "no certificate of version 1"),
        (b"[" * 100_000, "no certificate of version 1"),
        (b'{"version": 2}', "no certificate of version 1"),
        (b" " * (MOST_BYTES + 1), "more than"),
    ],
    ids=["empty", "cut", "bytes", "list", "deep", "newer", "large"],
)
def test_what_is_no_certificate_is_named_and_not_quoted(
    issued: Issued, content: bytes, words: str
) -> None:
    found = verify(content, issued.signer.public)
    assert found.certificate is None
    assert words in found.problems[0]


def test_nothing_of_a_file_is_shown_before_its_signature_holds(issued: Issued) -> None:
    said = issued.said
    said["finding"]["id"] = said["environment"] = "planted-secret"
    text = json.dumps(said, sort_keys=True, indent=2) + "\n"
    assert "planted-secret" not in repr(verify(text.encode(), issued.signer.public))
    unknown = issued.content.replace(b'"left_out"', b'"planted-secret"')
    assert "planted-secret" not in repr(verify(unknown, issued.signer.public))


def test_a_public_key_is_read_back_and_another_file_refused(issued: Issued) -> None:
    pem = issued.signer.public.pem()
    again = PublicKey.of_pem(pem.encode(), "key.pem")
    assert again.fingerprint == issued.signer.public.fingerprint
    assert verify(issued.content, again).problems == ()
    x25519 = X25519PrivateKey.generate().public_key()
    other_kind = x25519.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    for wrong in (b"", b"x" * 20_000, other_kind, pem.encode().replace(b"PUBLIC", b"PRIVATE")):
        with pytest.raises(UsageError, match=r"key\.pem"):
            PublicKey.of_pem(wrong, "key.pem")


def test_each_installation_signs_under_a_key_of_its_own() -> None:
    one, two = (Signer(InstallationKey(bytes([n]) * 32)).public.fingerprint for n in (1, 2))
    assert one != two
    assert one == Signer(InstallationKey(bytes([1]) * 32)).public.fingerprint
