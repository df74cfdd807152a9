"""What a certificate holds, and when there is none."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from monitor.certificate import issuing
from monitor.certificate.issuing import MOST_SIGHTINGS, Export, issue
from monitor.certificate.keys import Signer
from monitor.certificate.verifying import Inclusion, Verified, verify
from monitor.clock import SystemClock
from monitor.errors import UnsureError, UsageError
from monitor.model import ValueKind, VerdictClass
from monitor.store import Action, Store, open_store
from monitor.store.forget import Asked, Forgetting
from tests.unit.certificate.leaked import Leaked
from tests.unit.store.samples import NOW, SECRETS, verdict

LATER = NOW + timedelta(hours=2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "davylamp-data") as opened:
        yield opened


def issued(store: Store, finding: str, head: str | None = None) -> str:
    return issue(store, "test", Export(finding=finding, who="ann", head=head), LATER) + "\n"


def checked(store: Store, text: str, head: str | None = None) -> Verified:
    return verify(text.encode(), Signer(store.key).public, head)


def test_a_leak_is_shown_with_its_markers_and_holds_under_its_head(store: Store) -> None:
    scene = Leaked(store, "leak")
    markers = scene.mint(1, "nonce", "planted", *ValueKind)
    for _ in range(9):
        scene.mint(2)
    finding = scene.leak(3, markers[:2])
    text = issued(store, finding)
    head = store.audit.head
    assert head is not None
    assert checked(store, text) == replace(
        checked(store, text, head.hash), inclusion=Inclusion.NOT_CHECKED
    )
    found = checked(store, text, head.hash)
    assert (found.problems, found.inclusion) == ((), Inclusion.SHOWN)
    said = json.loads(text)
    assert [each["text"] for each in said["markers"]] == [each.text for each in markers[:2]]
    assert {each["tenant"] for each in said["markers"]} == {"donor-a"}
    assert [each["sent"]["trial"] for each in said["markers"]] == ["trial-leak-1"] * 2
    [first, _] = said["sightings"]
    assert (first["answered"]["tenant"], first["answered"]["trial"]) == ("victim-b", "trial-leak-3")
    assert (first["evidence_bits"], first["searched"]) == (46.5, 1234)
    assert (said["finding"]["id"], said["environment"], said["missing"]) == (finding, "test", [])
    (link,) = store.audit.links(1)
    assert (link.action, link.object, link.actor) == ("export_evidence", finding, "ann")
    assert said["chain"]["head"] == link.hash == head.hash


def test_nothing_but_the_markers_that_were_seen_is_in_it(store: Store) -> None:
    scene = Leaked(store, "secrets")
    markers = scene.mint(1, "nonce", "planted")
    text = issued(store, scene.leak(2, markers[:1]))
    assert markers[0].text in text
    assert markers[1].text not in text
    assert not [secret for secret in SECRETS if secret in text]


@pytest.mark.parametrize("kind", ["nonce", "planted", *ValueKind])
def test_every_kind_of_marker_can_be_shown(store: Store, kind: str) -> None:
    scene = Leaked(store, f"kind-{kind}")
    text = issued(store, scene.leak(2, scene.mint(1, kind)))
    assert checked(store, text).problems == ()


def test_what_crossed_within_a_tenant_is_shown_too(store: Store) -> None:
    scene = Leaked(store, "crossed")
    text = issued(store, scene.leak(2, scene.mint(1, tenant="a"), victim="a"))
    assert json.loads(text)["finding"]["verdict_class"] == "CROSSED"
    assert checked(store, text).problems == ()


def test_the_way_back_is_short_and_shown_under_any_head_after_it(store: Store) -> None:
    scene = Leaked(store, "way")
    markers = scene.mint(1)
    published = store.audit.head
    assert published is not None
    for number in range(150):
        store.audit.mint(["a" * 64], at=NOW, rows=())
        if number % 50 == 7:
            store.audit.append(Action.CONFIRM, "F-1", actor="bob", at=NOW)
    finding = scene.leak(2, markers)
    text = issued(store, finding)
    assert checked(store, text).problems == ()
    assert len(json.loads(text)["chain"]["links"]) < 40
    # A head that was published before is shown only by a certificate that leads to it.
    found = checked(store, text, published.hash)
    assert (found.inclusion, len(found.problems)) in (
        (Inclusion.NOT_SHOWN, 1),
        (Inclusion.SHOWN, 0),
    )
    under = issued(store, finding, published.hash)
    assert checked(store, under, published.hash).inclusion is Inclusion.SHOWN
    assert len(json.loads(under)["chain"]["links"]) == 1


def test_a_head_before_the_marker_shows_nothing(store: Store) -> None:
    scene = Leaked(store, "early")
    early = store.audit.append(Action.CONFIRM, "F-1", actor="bob", at=NOW)
    finding = scene.leak(2, scene.mint(1))
    links = store.audit.count
    with pytest.raises(UnsureError, match="after the head you gave"):
        issued(store, finding, early.hash)
    with pytest.raises(UsageError, match="not in the audit chain"):
        issued(store, finding, "0" * 64)
    # Nothing was revealed.
    assert store.audit.count == links


@pytest.mark.parametrize("under", ["the newest", "one given"])
def test_what_would_be_too_large_is_not_said_to_be_revealed(
    store: Store, monkeypatch: pytest.MonkeyPatch, under: str
) -> None:
    scene = Leaked(store, f"large under {under}")
    finding = scene.leak(2, scene.mint(1))
    newest = store.audit.head
    assert newest is not None
    monkeypatch.setattr(issuing, "MOST_BYTES", 1000)
    with pytest.raises(UnsureError, match="more than 1000 bytes"):
        issued(store, finding, newest.hash if under == "one given" else None)
    assert store.audit.count == newest.seq


def test_under_a_head_that_was_given_the_revealing_is_told_too(store: Store) -> None:
    scene = Leaked(store, "given")
    finding = scene.leak(2, scene.mint(1))
    newest = store.audit.head
    assert newest is not None
    assert json.loads(issued(store, finding, newest.hash))["chain"]["head"] == newest.hash
    (link,) = store.audit.links(1)
    assert (link.seq, link.action, link.object) == (newest.seq + 1, "export_evidence", finding)


def test_a_finding_is_named_by_the_beginning_of_its_id(store: Store) -> None:
    scene = Leaked(store, "named")
    finding = scene.leak(2, scene.mint(1))
    assert json.loads(issued(store, finding[:-1].lower()))["finding"]["id"] == finding
    (link,) = store.audit.links(1)
    assert link.object == finding
    with pytest.raises(UsageError, match="is no id of a finding"):
        issued(store, "F-")


def test_of_many_sightings_the_first_are_shown(store: Store) -> None:
    scene = Leaked(store, "many")
    markers = scene.mint(1, *["nonce"] * (MOST_SIGHTINGS + 3))
    said = json.loads(issued(store, scene.leak(2, markers)))
    assert (len(said["sightings"]), len(said["markers"]), said["left_out"]) == (16, 16, 3)


def test_a_finding_that_is_not_there_or_of_another_class_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="no finding has this id"):
        issued(store, "F-NONE")
    scene = Leaked(store, "other")
    wrong = replace(verdict(1, "other"), verdict_class=VerdictClass.CORRUPT, signals=())
    finding = scene.findings.record(wrong)
    assert finding is not None
    with pytest.raises(UsageError, match="class CORRUPT: certificates are of LEAK and CROSSED"):
        issued(store, finding.id)


def test_a_leak_whose_verdicts_name_no_marker_cannot_be_shown(store: Store) -> None:
    with pytest.raises(UnsureError, match="names a marker"):
        issued(store, Leaked(store, "bare").leak(2, ()))


def test_what_is_gone_is_said_and_never_shown(store: Store, tmp_path: Path) -> None:
    scene = Leaked(store, "gone")
    one, two = scene.mint(1)[0], scene.mint(2, tenant="other-a")[0]
    finding = scene.leak(3, [one, two])
    scene.findings.resolve(finding, "ann", "mended", NOW)
    forget(store, tmp_path, Asked(trial=one.owner.trial))
    text = issued(store, finding)
    assert checked(store, text).problems == ()
    said = json.loads(text)
    assert [each["marker"] for each in said["sightings"]] == [two.id]
    [missing] = said["missing"]
    assert (missing["marker"], "forgotten" in missing["why"]) == (one.id, True)
    forget(store, tmp_path, Asked(trial=two.owner.trial))
    links = store.audit.count
    with pytest.raises(UnsureError, match=f"is gone.*{one.id}"):
        issued(store, finding)
    assert store.audit.count == links


def test_a_marker_minted_before_there_were_salts_cannot_be_shown(store: Store) -> None:
    scene = Leaked(store, "old")
    (marker,) = scene.mint(1)
    finding = scene.leak(2, [marker])
    (row,) = store.reader.markers_of([marker.id])
    seal = AESGCM(store.key.derive("marker-seal"))
    old = seal.encrypt(bytes(12), marker.text.encode(), marker.id.encode())
    sealed = base64.b64encode(bytes(12) + old).decode()
    store.writer.put([replace(row, sealed=sealed)])
    with pytest.raises(UnsureError, match="minted before salted hashes"):
        issued(store, finding)


def test_a_marker_whose_link_is_gone_cannot_be_shown(store: Store) -> None:
    scene = Leaked(store, "unlinked")
    (marker,) = scene.mint(1)
    finding = scene.leak(2, [marker])
    (row,) = store.reader.markers_of([marker.id])
    # As it would be sealed with another salt: the chain has no hash of that.
    store.writer.put([replace(row, sealed=store.markers._seal(marker, bytes(16)))])
    with pytest.raises(UnsureError, match="no link of the audit chain has the salted hash"):
        issued(store, finding)


def test_markers_of_an_open_finding_outlive_their_time_with_their_salts(store: Store) -> None:
    scene = Leaked(store, "held")
    finding = scene.leak(2, scene.mint(1))
    store.markers.expire(NOW + timedelta(days=60))
    assert checked(store, issued(store, finding)).problems == ()


def test_a_link_that_was_changed_is_not_led_over(store: Store) -> None:
    scene = Leaked(store, "broken")
    finding = scene.leak(2, scene.mint(1))
    number = store.audit.count
    store.audit.append(Action.CONFIRM, "F-1", actor="bob", at=NOW)
    store.flush()
    store.writer.run(
        lambda client: client.command(
            f"ALTER TABLE audit_log UPDATE actor = 'eve' WHERE seq = {number + 1} "
            "SETTINGS mutations_sync = 2"
        )
    )
    links = store.audit.count
    with pytest.raises(UnsureError, match="missing or was changed"):
        issued(store, finding)
    assert store.audit.count == links


def forget(store: Store, folder: Path, asked: Asked) -> None:
    store.holds.settle()
    forgetting = Forgetting(store, folder, asked, SystemClock())
    forgetting.erase(forgetting.found(), who="ann", on_erased=lambda *_: None)
