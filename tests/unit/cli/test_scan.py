"""``scan`` over many answers: what is said when it cannot go on, and what a batch holds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from monitor.cli import scan_verb
from monitor.cli.main import main
from monitor.cli.reported import BadLine, Line
from monitor.errors import UsageError
from monitor.reports.scan import ScanReport
from monitor.scanning import Reported
from tests.unit.cli.test_plan import written


class StoppingDesk:
    """A desk that calls every answer bad, and stops after so many batches."""

    def __init__(self, batches: int) -> None:
        self._left = batches

    async def scan(
        self, reported: Sequence[Reported], target: str, source: str
    ) -> list[ScanReport]:
        if not self._left:
            raise UsageError("the daemon stopped")
        self._left -= 1
        return [
            ScanReport(
                name=each.name,
                outcome="bad",
                verdict_class="LEAK",
                reason="",
                trial="trial-1",
                finding=None,
                found=[],
                unsure=[],
                not_looked_for=[],
            )
            for each in reported
        ]


def many(answers: int) -> Iterator[Line]:
    yield BadLine(number=1, why="is no JSON")
    yield from (Reported(answer="fine", name=f"line {n}") for n in range(answers))


@pytest.mark.parametrize(
    ("batches", "said"),
    [(0, ""), (2, "stopped after 128 answers: 127 bad, 0 suspect, 1 not told in full\n")],
)
def test_a_scan_that_cannot_go_on_says_how_far_it_came(
    batches: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="the daemon stopped"):
        asyncio.run(scan_verb._scan(StoppingDesk(batches), many(300), "glm", "reported", None))
    lines = capsys.readouterr().err.splitlines(keepends=True)
    assert lines[0] == "line 1: is no JSON\n"
    assert "".join(lines[1:]) == said


def test_a_batch_is_bounded_by_its_prompts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_verb, "_BATCH_CHARACTERS", 100)
    long = [Reported(answer="fine", prompt="p" * 60) for _ in range(5)]
    assert [len(batch) for batch in scan_verb._batches(iter(long))] == [2, 2, 1]


@pytest.mark.parametrize("option", ["--tenant", "--prompt"])
def test_what_is_for_one_answer_is_not_silently_left_out_of_many(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text('{"answer": "fine"}\n', "utf-8")
    given = "tenant-a" if option == "--tenant" else str(file)
    config = str(written(tmp_path))
    assert main(["scan", str(file), option, given, "--config", config]) == 2
    assert f"{option} is for one answer" in capsys.readouterr().err
