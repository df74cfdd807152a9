"""``davylamp db forget``: it says what it would erase, makes sure, and says what it did."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.cli.main import main
from monitor.findings import findings_in
from monitor.model import VerdictClass
from monitor.sinks import ClickHouseSink
from monitor.store import open_store
from tests.unit.daemon.installed import config_of
from tests.unit.store.samples import NOW, good, trial
from tests.unit.test_findings import bad

Capture = pytest.CaptureFixture[str]


class Terminal(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a configuration, and a store with two trials and one that is evidence."""
    config_of(tmp_path)
    with open_store(tmp_path / "store") as store:
        sink = ClickHouseSink(store.writer, store.hasher)
        for number in (1, 2):
            sink.deliver(trial(number), good(number))
        told = bad(VerdictClass.LEAK, target="held")
        finding = findings_in(store, NOW).record(told)
        assert finding is not None
        told = replace(told, trial="trial-held-3", finding=finding.id)
        sink.deliver(trial(3, "held"), told)
    return tmp_path


def forget(folder: Path, *arguments: str) -> int:
    return main(["db", "forget", "--config", str(folder / "davylamp.yaml"), *arguments])


def count(folder: Path, table: str = "trials") -> int:
    with open_store(folder / "store") as store:
        return store.reader.counts()[table]


def test_without_a_terminal_or_yes_nothing_is_erased(folder: Path, capsys: Capture) -> None:
    assert forget(folder, "--trial", "trial-glm-1") == 2
    shown = capsys.readouterr()
    assert "trial trial-glm-1, to erase:" in shown.out
    assert "          2  exchanges" in shown.out
    assert "nothing was erased: there is no terminal to ask at (add --yes)" in shown.err
    assert (count(folder), count(folder, "audit_log")) == (3, 0)


@pytest.mark.parametrize(("typed", "exit_code", "left"), [("y\n", 0, 2), ("n\n", 130, 3)])
def test_at_a_terminal_somebody_is_asked(
    folder: Path, typed: str, exit_code: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    assert forget(folder, "--trial", "trial-glm-1") == exit_code
    assert count(folder) == left


def test_what_open_findings_hold_is_refused_or_left_out(folder: Path, capsys: Capture) -> None:
    assert forget(folder, "--before", "2027-01-01", "--yes") == 1
    refused = capsys.readouterr().out
    assert "held by the open finding F-" in refused
    assert "nothing was erased" in refused
    assert count(folder) == 3
    said = ("--before", "2027-01-01", "--yes", "--keep-held", "--json", "-", "--who", "ann")
    assert forget(folder, *said) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["erased"], report["rows"]["trials"], report["exit_code"]) == (True, 2, 0)
    assert report["tombstone"]["seq"] == 3
    assert (count(folder), count(folder, "audit_log")) == (1, 3)
    assert forget(folder, "--before", "2027-01-01", "--yes", "--keep-held") == 0
    assert "nothing is left to erase" in capsys.readouterr().out


def test_what_cannot_be_done_exits_2(folder: Path, capsys: Capture) -> None:
    one_of = "one of --tenant, --trial and --before"
    for arguments, says in (
        ((), one_of),
        (("--tenant", "a", "--trial", "b"), one_of),
        (("--tenant", ""), one_of),
        (("--before", "yesterday"), "--before: 'yesterday' is no time (write a date"),
        (("--trial", "trial-unknown"), "the store holds nothing of trial trial-unknown"),
        (("--tenant", "nobody' --"), "the store holds nothing of tenant nobody"),
    ):
        assert forget(folder, *arguments, "--yes") == 2
        assert says in capsys.readouterr().err
    assert count(folder) == 3
