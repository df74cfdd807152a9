"""``davylamp evidence export``, ``verify`` and ``public-key``: what they say, and how they exit."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest

from monitor.cli.main import main
from monitor.store import open_store
from tests.unit.certificate.leaked import Leaked
from tests.unit.daemon.installed import config_of

Capture = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Desk:
    folder: Path
    finding: str = ""

    @property
    def certificate(self) -> Path:
        return self.folder / "leak.json"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem"

    def evidence(self, verb: str, *arguments: str) -> int:
        config = ("--config", str(self.folder / "davylamp.yaml"))
        return main(["evidence", verb, *arguments, *config])

    def verify(self, *arguments: str) -> int:
        asked = [str(self.certificate), "--public-key", str(self.key), *arguments]
        return main(["evidence", "verify", *asked])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    config_of(tmp_path)
    with open_store(tmp_path / "store") as store:
        scene = Leaked(store, "glm")
        finding = scene.leak(2, scene.mint(1))
    return Desk(tmp_path, finding)


def test_a_leak_is_exported_and_verified(desk: Desk, capsys: Capture) -> None:
    assert desk.evidence("public-key", "--out", str(desk.key)) == 0
    fingerprint = capsys.readouterr().err.split()[1]
    assert desk.key.read_text("utf-8").startswith("-----BEGIN PUBLIC KEY-----\n")
    assert desk.evidence("export", desk.finding, "--out", str(desk.certificate)) == 0
    said = json.loads(desk.certificate.read_bytes())
    assert said["public_key"] == fingerprint
    told = capsys.readouterr()
    head = said["chain"]["head"]
    assert told.out == ""
    assert f"{desk.finding}: 1 sighting of 1 marker, under head {head}" in told.err

    assert desk.verify() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"HOLDS: LEAK {desk.finding} at glm, 1 verdict from 20")
    assert lines[-1].startswith("inclusion not checked")
    assert any(said["markers"][0]["text"] in line for line in lines)
    assert desk.verify("--require-inclusion") == 3
    assert desk.verify("--require-inclusion", "--head", head.upper()) == 0
    assert "inclusion shown" in capsys.readouterr().out
    assert desk.verify("--head", "0" * 64) == 1
    assert desk.verify("--head", "nothing") == 2


def test_stdout_is_the_file(desk: Desk, capsys: Capture) -> None:
    assert desk.evidence("public-key", "--out", str(desk.key)) == 0
    capsys.readouterr()
    assert desk.evidence("export", desk.finding) == 0
    desk.certificate.write_text(capsys.readouterr().out, "utf-8")
    assert desk.verify() == 0


def test_a_changed_file_does_not_hold_and_nothing_of_it_is_shown(
    desk: Desk, capsys: Capture
) -> None:
    assert desk.evidence("public-key", "--out", str(desk.key)) == 0
    assert desk.evidence("export", desk.finding, "--out", str(desk.certificate)) == 0
    text = desk.certificate.read_text("utf-8").replace("victim-b", "victim-c")
    desk.certificate.write_text(text, "utf-8")
    capsys.readouterr()
    assert desk.verify() == 1
    said = capsys.readouterr().out
    assert said.startswith("DOES NOT HOLD\n")
    assert "victim-c" not in said
    desk.certificate.write_text("{}", "utf-8")
    assert desk.verify() == 1


def test_what_cannot_be_exported_or_read_is_named(desk: Desk, capsys: Capture) -> None:
    assert desk.evidence("export", "F-NONE") == 2
    assert "no finding has this id" in capsys.readouterr().err
    assert desk.verify() == 2
    assert "key.pem cannot be read: no such file" in capsys.readouterr().err
    assert desk.evidence("public-key", "--out", str(desk.key)) == 0
    assert desk.verify() == 2
    assert "leak.json cannot be read: no such file" in capsys.readouterr().err
    desk.key.write_text("no key", "utf-8")
    assert desk.verify() == 2
    assert "evidence public-key --out FILE" in capsys.readouterr().err


def test_a_marker_that_is_gone_exits_3_saying_so(desk: Desk, capsys: Capture) -> None:
    with open_store(desk.folder / "store") as store:
        store.writer.run(
            lambda client: client.command(
                "ALTER TABLE markers UPDATE sealed = '' WHERE true SETTINGS mutations_sync = 2"
            )
        )
    assert desk.evidence("export", desk.finding, "--out", str(desk.certificate)) == 3
    assert "the text of the marker is gone" in capsys.readouterr().err
    assert not desk.certificate.exists()


def test_no_key_is_made_by_asking_for_it(tmp_path: Path, capsys: Capture) -> None:
    config_of(tmp_path)
    assert Desk(tmp_path).evidence("public-key") == 2
    assert "there is no installation key yet" in capsys.readouterr().err
    assert not (tmp_path / "store" / "installation.key").exists()


def test_the_key_of_a_store_that_lost_it_is_not_made_anew(desk: Desk, capsys: Capture) -> None:
    file = desk.folder / "store" / "installation.key"
    file.unlink()
    before = sorted(each.name for each in file.parent.iterdir())
    capsys.readouterr()
    assert desk.evidence("public-key", "--out", str(desk.key)) == 2
    said = capsys.readouterr()
    assert "the installation's key cannot be read" in said.err
    assert "restore it from a backup" in said.err
    assert "fingerprint" not in said.err
    assert sorted(each.name for each in file.parent.iterdir()) == before
    assert not desk.key.exists()


def test_half_a_key_is_none(desk: Desk, capsys: Capture) -> None:
    file = desk.folder / "store" / "installation.key"
    file.write_bytes(file.read_bytes()[:7])
    assert desk.evidence("public-key") == 2
    assert "not an installation key" in capsys.readouterr().err
    assert len(file.read_bytes()) == 7


def test_the_private_key_stays_its_owners(desk: Desk) -> None:
    file = desk.folder / "store" / "installation.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
