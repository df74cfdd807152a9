"""Where a verb writes its result: refused before anything is sent, and never a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from monitor.cli import context_verb
from monitor.cli.main import main
from monitor.cli.options import write_text
from monitor.errors import UnsureError, UsageError
from tests.unit.cli.test_plan import written


@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_a_folder_that_is_not_there_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    missing = tmp_path / "no-config.yaml"
    arguments = ["check", "--config", str(missing), option, str(tmp_path / "none" / "x")]
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "no such folder" in said
    assert "cannot be read" not in said


def test_what_could_not_be_told_is_no_error_of_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> None:
        raise UnsureError("it does not answer")

    monkeypatch.setattr(context_verb, "_verify_alone", away)
    assert main(["context", "verify", "glm", "--config", str(written(tmp_path))]) == 3
    assert capsys.readouterr().err == "it does not answer\n"


def test_what_cannot_be_written_is_an_error_of_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: is a directory"):
        write_text(str(tmp_path), "text")


def test_a_file_is_written_with_its_last_line_ended(tmp_path: Path) -> None:
    write_text(str(tmp_path / "x"), "text")
    assert (tmp_path / "x").read_text(encoding="utf-8") == "text\n"
