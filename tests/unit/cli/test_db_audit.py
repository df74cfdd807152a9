"""``davylamp db audit``: what it says of a chain, and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli.main import main
from monitor.store import Action, open_store
from tests.unit.daemon.installed import config_of
from tests.unit.store.samples import NOW

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a configuration and no store yet."""
    config_of(tmp_path)
    return tmp_path


def audit(folder: Path, *arguments: str) -> int:
    return main(["db", "audit", "--config", str(folder / "davylamp.yaml"), *arguments])


def links(folder: Path, *subjects: str, action: Action = Action.RESOLVE) -> None:
    with open_store(folder / "store") as store:
        for subject in subjects:
            store.audit.append(action, subject, actor="ann\x1b[31m", at=NOW)


def damage(folder: Path, statement: str) -> None:
    with open_store(folder / "store") as store:
        store.writer.run(lambda client: client.command(f"{statement} SETTINGS mutations_sync = 2"))


def test_what_a_whole_chain_says(folder: Path, capsys: Capture) -> None:
    links(folder, "F-1", "F-2")
    assert audit(folder, "--last", "1") == 0
    shown, verdict, head = capsys.readouterr().out.splitlines()
    # A name that somebody gave reaches no terminal as it is.
    assert "\x1b" not in shown
    assert "resolve  F-2" in shown
    assert verdict == "WHOLE: 3 links since 2026-11-02"
    assert audit(folder, "--head", head.removeprefix("head ").upper()) == 0
    assert "the head you gave is link 3: nothing up to it was changed" in capsys.readouterr().out


def test_the_json_is_all_of_it(folder: Path, capsys: Capture) -> None:
    links(folder, "F-1")
    assert audit(folder, "--json", "-", "--last", "5") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["verdict"], said["links"], said["flaw_count"]) == ("whole", 2, 0)
    assert said["head"] == {"seq": 2, "hash": said["last"][-1]["hash"]}
    assert said["installation_is_ours"] is True


def test_a_broken_chain_exits_1_and_names_the_link(folder: Path, capsys: Capture) -> None:
    links(folder, *(f"F-{number}" for number in range(4)))
    damage(folder, "ALTER TABLE audit_log UPDATE actor = 'eve' WHERE seq = 2")
    damage(folder, "ALTER TABLE audit_log DELETE WHERE seq = 4")
    assert audit(folder) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "link 2: was changed: its hash is not that of what it says" in lines
    assert "link 4: is missing" in lines
    assert lines[-2].startswith("BROKEN: ")


def test_an_end_that_was_cut_off_shows_only_by_a_head_from_outside(
    folder: Path, capsys: Capture
) -> None:
    links(folder, "F-1", "F-2")
    assert audit(folder) == 0
    head = capsys.readouterr().out.splitlines()[-1].removeprefix("head ")
    damage(folder, "ALTER TABLE audit_log DELETE WHERE seq = 3")
    assert audit(folder) == 0
    assert audit(folder, "--head", head) == 1
    assert "its end was cut off or written again" in capsys.readouterr().out
    damage(folder, "ALTER TABLE audit_log DELETE WHERE true")
    assert audit(folder) == 3
    assert audit(folder, "--head", head) == 1


def test_an_erasure_without_its_end_cannot_be_called_done(folder: Path, capsys: Capture) -> None:
    links(folder, "tenant 'a'", action=Action.FORGET)
    assert audit(folder) == 3
    assert "the erasure of tenant 'a' was begun and has no end" in capsys.readouterr().out


@pytest.mark.parametrize("head", ["", "12", "g" * 64, "a" * 65])
def test_what_is_no_head_is_refused(folder: Path, head: str, capsys: Capture) -> None:
    assert audit(folder, "--head", head) == 2
    assert "64 hex digits" in capsys.readouterr().err


def test_another_installation_is_said(folder: Path, capsys: Capture) -> None:
    links(folder, "F-1")
    (folder / "store" / "installation.key").write_bytes(bytes(32))
    assert audit(folder) == 0
    assert "which is not this one: it has another key" in capsys.readouterr().out
