"""``config check`` reads the files of a folder of objectives, and says what is wrong in which."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli.main import main
from tests.unit.config.known import GOOD

Capture = pytest.CaptureFixture[str]
FINE = "version: 1\nslos:\n  - {name: own, target: glm-prod, objective: 99.9}\n"
MAPPED = "version: 1\nproduction:\n  - {source: gw, requests: {metric: gw_total, code: status}}\n"


def check(folder: Path, files: dict[str, str], *more: str, slos: str = "slos: slos\n") -> int:
    (folder / "slos").mkdir()
    for name, text in files.items():
        (folder / "slos" / name).write_text(text, encoding="utf-8")
    file = folder / "davylamp.yaml"
    file.write_text(GOOD + slos, encoding="utf-8")
    return main(["config", "check", "--config", str(file), *more])


def test_a_folder_that_is_well_is_counted(tmp_path: Path, capsys: Capture) -> None:
    assert check(tmp_path, {"a.yaml": FINE, "b.yaml": MAPPED}) == 0
    said = capsys.readouterr().out
    assert "1 objective, 1 mapping of slos; `davylamp rules build` makes rules of them" in said


def test_the_names_are_in_the_data(tmp_path: Path, capsys: Capture) -> None:
    assert check(tmp_path, {"a.yaml": FINE}, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["objectives"] == ["own"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FINE.replace("99.9", "101"), "a.yaml:3: slos[0].objective: "),
        (FINE.replace("target", "tarjet"), "a.yaml:3: slos[0].tarjet: "),
        (FINE.replace("glm-prod", "other"), "a.yaml:3: slos[0].target: no target 'other' (name"),
        (FINE.replace("own", "semantic"), "'semantic' is the name of a shipped objective (choose"),
        ("slos: []\n", "a.yaml"),
        ("version: 1\nslos: [\n", "a.yaml:"),
        ("", "a.yaml"),
        (MAPPED.replace(", code: status", ""), "a.yaml:3: production[0]"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_place(
    tmp_path: Path, capsys: Capture, text: str, words: str
) -> None:
    assert check(tmp_path, {"a.yaml": text}) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert "OK" not in said.out


def test_all_files_are_told_at_once_in_their_order(tmp_path: Path, capsys: Capture) -> None:
    wrong = {"b.yaml": FINE.replace("99.9", "0"), "a.yaml": FINE.replace("99.9", "101")}
    assert check(tmp_path, wrong | {"c.yaml": MAPPED}) == 2
    rows = [row for row in capsys.readouterr().err.splitlines() if ".yaml:3: " in row]
    assert ["a.yaml" in row for row in rows] == [True, False]


def test_one_name_in_two_files_names_the_other_file(tmp_path: Path, capsys: Capture) -> None:
    assert check(tmp_path, {"a.yaml": FINE, "b.yaml": FINE}) == 2
    said = capsys.readouterr().err
    assert "b.yaml:3: slos[0].name: a second objective 'own'" in said
    assert "(the first stands on line 3 of a.yaml)" in said


def test_objectives_in_the_file_itself_are_held_to_the_same(
    tmp_path: Path, capsys: Capture
) -> None:
    listed = "slos: [{name: availability, objective: 99}]\n"
    assert check(tmp_path, {}, slos=listed) == 2
    said = capsys.readouterr().err
    assert "davylamp.yaml:" in said
    assert "slos[0].name: 'availability' is the name of a shipped objective" in said
