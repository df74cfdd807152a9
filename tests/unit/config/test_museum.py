"""Each broken file gives exactly the message that stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import ConfigErrors
from monitor.errors import ConfigError
from tests.unit.config.known import load

BAD = Path(__file__).parent / "bad"
FILES = sorted(file.name for file in BAD.glob("*.yaml"))

JARGON = (
    "input_value",
    "pydantic",
    "validation error",
    "Input should",
    "type=",
    "NoneType",
    "dict",
)


@pytest.mark.parametrize("name", FILES)
def test_exact_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)
    wanted = Path(name).with_suffix(".txt").read_text(encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(Path(name))
    assert f"{caught.value}\n" == wanted


@pytest.mark.parametrize("name", FILES)
def test_every_line_names_file_and_remedy_in_plain_words(name: str) -> None:
    for line in (BAD / name).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        assert line.startswith(f"{name}:"), line
        assert line.endswith(")"), line
        assert not any(word in line for word in JARGON), line


def test_the_museum_is_well_stocked() -> None:
    assert len(FILES) >= 30
    assert {file.stem for file in BAD.glob("*.txt")} == {Path(name).stem for name in FILES}


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: no such file or directory"):
        load(tmp_path / "none.yaml")


def test_a_file_that_is_too_large_says_so(tmp_path: Path) -> None:
    file = tmp_path / "davylamp.yaml"
    file.write_text("version: 1\n" + "#" * 300_000, encoding="utf-8")
    with pytest.raises(ConfigError, match="larger than 256 KiB"):
        load(file)


def test_errors_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)
    with pytest.raises(ConfigErrors) as caught:
        load(Path("several.yaml"))
    assert [(error.line, error.path) for error in caught.value.errors] == [
        (4, "targets[0].engine"),
        (5, "targets[0].base_ulr"),
        (6, "targets[0].model"),
        (9, "targets[0].tenants[1].token"),
    ]
