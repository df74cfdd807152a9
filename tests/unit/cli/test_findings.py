"""``davylamp findings``: what is open, what was, its history, and decisions about it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.cli.main import main
from monitor.findings import findings_in
from monitor.model import VerdictClass
from monitor.nodes.record import Conformity
from monitor.nodewatch import node_verdict
from monitor.reports.findings import finding_lines, shown_finding
from monitor.sinks.base import no_trial
from monitor.sinks.clickhouse import ClickHouseSink
from monitor.store import open_store
from tests.unit.daemon.installed import config_of
from tests.unit.nodewatch.building import POOL_BOUND, UNSAFE, judged
from tests.unit.store.samples import NOW
from tests.unit.test_finding_decisions import flawed
from tests.unit.test_findings import bad, findings

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    config_of(tmp_path)
    return tmp_path


def findings_verb(folder: Path, *arguments: str) -> int:
    return main(["findings", *arguments, "--config", str(folder / "davylamp.yaml")])


def opened(folder: Path) -> list[str]:
    """Record three faults and return the ids of their findings."""
    with open_store(folder / "store") as store:
        book = findings_in(store, NOW)
        found = [book.record(bad(VerdictClass.LEAK, shape=shape)) for shape in ("a", "b", "c")]
        return [finding.id for finding in found if finding is not None]


def test_what_is_closed_can_still_be_listed_and_shown(folder: Path, capsys: Capture) -> None:
    one, other, third = opened(folder)
    assert findings_verb(folder, "resolve", one, "--why", "upgraded\x1b[0m", "--who", "ann") == 0
    assert f"{one} is resolved; a is probed again on glm" in capsys.readouterr().out
    assert findings_verb(folder, "dismiss", other, "--why", "a test", "--who", "bob") == 0
    assert findings_verb(folder, "confirm", third, "--why", "seen", "--who", "eve") == 0
    assert f"{third} is confirmed" in capsys.readouterr().out
    assert findings_verb(folder, "list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [third]
    assert findings_verb(folder, "list", "--all") == 0
    listed = capsys.readouterr().out.splitlines()
    assert {tuple(line.split()[i] for i in (0, 4)) for line in listed} == {
        (one, "resolved"),
        (other, "dismissed"),
        (third, "confirmed"),
    }
    assert findings_verb(folder, "show", one) == 0
    shown = capsys.readouterr().out
    assert "davylamp explain trial-glm-" in shown
    history = [line.strip() for line in shown.splitlines() if "history" in line]
    assert len(history) == 2
    assert history[0].endswith("LEAK  confirmed  1 verdict")
    assert history[1].endswith("LEAK  resolved  1 verdict  by ann: upgraded\\u001b[0m")


def unsafe(folder: Path) -> str:
    """Record what rules say of two nodes and return the id of the first one's finding."""
    warned = replace(POOL_BOUND, rule="sglang-pd-pages-reused")
    with open_store(folder / "store") as store:
        book = findings_in(store, NOW)
        ids = []
        for number, node in enumerate(("prefill-0", "decode-0"), start=1):
            said = node_verdict(
                judged(UNSAFE, warned, conformity=Conformity.FAIL, node=node),
                model="glm-5.3",
                verdict_id=f"verdict-{number}",
                now=NOW,
                rules="ab" * 32,
            )
            found = book.record(said)
            assert found is not None
            said = replace(said, finding=found.id)
            ClickHouseSink(store.writer, store.hasher).deliver(no_trial(said), said)
            ids.append(found.id)
    return ids[0]


def test_a_finding_of_a_node_says_which_rule_fails_it_and_what_to_do(
    folder: Path, capsys: Capture
) -> None:
    one = unsafe(folder)
    assert findings_verb(folder, "list") == 0
    listed = capsys.readouterr().out
    assert "node prefill-0  confirmed" in listed
    assert "node decode-0  confirmed" in listed
    assert findings_verb(folder, "show", one) == 0
    shown = capsys.readouterr().out
    assert "  fails    sglang-pd-over-length, public since 2026-07-06\n" in shown
    assert "           what is longer is not safely refused\n" in shown
    assert "           https://github.com/sgl-project/sglang/issues/30233\n" in shown
    assert "sglang-pd-pages-reused" not in shown, "a warning is no failure"
    assert "  next     davylamp nodes --target glm " in shown
    assert f"  next     davylamp findings resolve {one} " in shown
    assert main(["explain", one, "--config", str(folder / "davylamp.yaml")]) == 2
    assert f"davylamp findings show {one}" in capsys.readouterr().err
    assert findings_verb(folder, "verify", one) == 3
    assert "`davylamp nodes --target glm`" in capsys.readouterr().err
    assert findings_verb(folder, "resolve", one, "--why", "upgraded") == 0
    assert "probed again" not in capsys.readouterr().out


def test_rotation_is_told_shown_and_listed_while_it_lasts(folder: Path, capsys: Capture) -> None:
    one, *_ = opened(folder)
    at = "2026-11-03T12:45"
    ahead = ("--at", "2099-01-01")
    for wrong, words in (
        (("drained", one, "--at", "2026-11-02"), "is before its onset, 2026-11-02T"),
        (("drained", one, *ahead), "is still to come, now is"),
        (("returned", one), f"davylamp findings drained {one} --at TIME"),
        (("drained", one, "--at", "soon"), "--at: 'soon' is no time"),
        (("drained", one, "--who", ""), "--who: it is empty; name who says so"),
        (("confirm", one, "--why", "seen", "--who", " "), "--who: it is empty; name who says so"),
        (("drained", one, "--who", "a" * 201), "--who: 201 characters are too long; at most 200"),
        (("drained", one, "--why", "a" * 2_001), "--why: 2,001 characters are too long; at most"),
        (("resolve", one, "--why", "a" * 2_001), "--why: 2,001 characters are too long; at most"),
    ):
        assert findings_verb(folder, *wrong) == 2
        assert words in capsys.readouterr().err
    assert findings_verb(folder, "drained", one[:6], "--at", at, "--who", "ann", "--why", "x") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"{one}: glm is out of rotation since 2026-11-03 12:45:00 UTC; what")
    assert len(said) == 3, "two more are open on that target"
    assert findings_verb(folder, "drained", one) == 2
    assert f"as ann told (davylamp findings returned {one}" in capsys.readouterr().err
    assert findings_verb(folder, "list") == 0
    out = [line for line in capsys.readouterr().out.splitlines() if "out of rotation" in line]
    assert [line.split()[0] for line in out] == [one]
    assert findings_verb(folder, "show", one, "--json", "-") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema_version"] == "1.1"
    for told in (shown["finding"], shown["history"][-1]):
        assert told["out_of_rotation_at"] == "2026-11-03T12:45:00Z"
        assert (told["rotation_by"], told["rotation_why"]) == ("ann", "x")
    assert findings_verb(folder, "returned", one, "--who", "bob") == 0
    assert findings_verb(folder, "show", one) == 0
    history = [line for line in capsys.readouterr().out.splitlines() if "  history  " in line]
    assert history[1].endswith("out of rotation since 2026-11-03 12:45:00 UTC, as ann told: x")
    assert "back in rotation since" in history[2]
    assert history[2].endswith(" UTC, as bob told")
    assert findings_verb(folder, "drained", one) == 0
    assert findings_verb(folder, "resolve", one, "--why", "mended") == 0
    capsys.readouterr()
    assert findings_verb(folder, "list", "--all") == 0
    assert "out of rotation" not in capsys.readouterr().out, "what is closed is over"
    assert findings_verb(folder, "reopen", one, "--why", "again") == 0
    back = f"{one} is confirmed; its target counts as in rotation (if it is not: davylamp findings "
    assert capsys.readouterr().out == f"{back}drained {one})\n"


def test_what_is_not_there_or_closed_is_said(folder: Path, capsys: Capture) -> None:
    one, *_ = opened(folder)
    assert findings_verb(folder, "resolve", one, "--why", " ") == 2
    assert "say who decides and why" in capsys.readouterr().err
    assert findings_verb(folder, "dismiss", one, "--why", "no") == 0
    assert findings_verb(folder, "dismiss", one, "--why", "no") == 2
    assert "is closed already (dismissed), since 20" in capsys.readouterr().err
    assert findings_verb(folder, "reopen", one, "--why", "a slip", "--who", "eve") == 0
    assert findings_verb(folder, "reopen", one, "--why", "a slip") == 2
    assert capsys.readouterr().err.strip().endswith("Z by eve")
    for unknown in ("F-NOTHING", "F-1' OR 1 --"):
        assert findings_verb(folder, "show", unknown) == 2
    assert "findings list --all" in capsys.readouterr().err


@pytest.mark.parametrize("short", ["", "F", "F-", "F-0"])
def test_an_id_that_is_nearly_none_closes_nothing(
    folder: Path, capsys: Capture, short: str
) -> None:
    with open_store(folder / "store") as store:
        only = findings_in(store, NOW).record(bad(VerdictClass.LEAK))
        assert only is not None
    for verb in ("resolve", "dismiss"):
        assert findings_verb(folder, verb, short, "--why", "x") == 2
        assert "is no id of a finding: give F- and at least" in capsys.readouterr().err
    assert findings_verb(folder, "list") == 0
    assert only.id in capsys.readouterr().out


def test_there_may_be_none(folder: Path, capsys: Capture) -> None:
    assert findings_verb(folder, "list") == 0
    assert findings_verb(folder, "list", "--all") == 0
    assert capsys.readouterr().out.splitlines() == ["no open finding", "no finding"]


def test_a_long_history_is_told_by_what_changed(folder: Path) -> None:
    book = findings()
    first = bad(VerdictClass.CROSSED)
    finding = book.record(first)
    assert finding is not None
    with open_store(folder / "store") as store:
        stored = findings_in(store, NOW)
        stored.record(first)
        for number in range(200):
            stored.record(bad(VerdictClass.CROSSED, f"s{number % 90}"))
        store.flush()
        versions = store.reader.finding_history(finding.id)
        lines = finding_lines(shown_finding(stored.list_open()[0], versions))
    history = [line for line in lines if line.startswith("  history")]
    assert "older changes are in the table finding_changes" in history[0]
    assert len(history) == 52
    assert history[-1].endswith("201 verdicts")
    later = replace(versions[-1], changed_at=versions[-1].changed_at + timedelta(days=1))
    assert finding_lines(shown_finding(finding, [later]))[-1].endswith(
        "CROSSED  confirmed  201 verdicts  90 strata"
    )


def test_findings_as_json_by_target_and_state_and_by_the_beginning_of_an_id(
    folder: Path, capsys: Capture
) -> None:
    one, other, third = opened(folder)
    assert findings_verb(folder, "resolve", one[:6].lower(), "--why", "done", "--who", "ann") == 0
    capsys.readouterr()

    def ids(*arguments: str) -> list[str]:
        assert findings_verb(folder, "list", "--json", "-", *arguments) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["schema_version"] == "1.1"
        return [each["id"] for each in told["findings"]]

    assert set(ids()) == {other, third}
    assert ids("--state", "resolved") == [one]
    assert set(ids("--all", "--target", "glm")) == {one, other, third}
    assert ids("--target", "qwen") == []
    assert findings_verb(folder, "list", "--target", "qwen") == 0
    assert capsys.readouterr().out == "no finding\n"
    assert findings_verb(folder, "list", "--state", "gone") == 2
    assert findings_verb(folder, "show", one, "--json", str(folder / "one.json")) == 0
    shown = json.loads((folder / "one.json").read_text("utf-8"))
    assert (shown["finding"]["class"], shown["finding"]["state"]) == ("LEAK", "resolved")
    assert [version["state"] for version in shown["history"]] == ["confirmed", "resolved"]
    assert shown["history"][1]["who"] == "ann"


def test_a_closed_one_is_opened_again_and_a_dismissed_pattern_suppressed(
    folder: Path, capsys: Capture
) -> None:
    with open_store(folder / "store") as store:
        finding = findings_in(store, NOW).record(flawed())
        assert finding is not None
    asked = (finding.id, "--why", "a quirk", "--who", "ann")
    for wrong in ("7", "0d", "91d", "-7d", "soon"):
        assert findings_verb(folder, "dismiss", *asked, "--suppress", wrong) == 2, wrong
    capsys.readouterr()
    assert findings_verb(folder, "dismiss", *asked, "--suppress", "90d") == 0
    assert "its twins open nothing until" in capsys.readouterr().out
    with open_store(folder / "store") as store:
        assert findings_in(store, NOW).record(flawed()) is None
    assert findings_verb(folder, "list", "--all") == 0
    listed = capsys.readouterr().out
    assert "twins suppressed until" in listed
    assert "1 verdict suppressed" in listed
    assert findings_verb(folder, "list") == 0
    nothing, suppressing = capsys.readouterr().out.splitlines()
    assert nothing == "no open finding"
    assert suppressing.startswith(f"{finding.id} suppresses its twins (CONTRACT glm canary s1)")
    assert suppressing.endswith(": 1 verdict so far")
    assert findings_verb(folder, "list", "--target", "qwen") == 0
    assert capsys.readouterr().out.splitlines() == ["no finding"]
    assert findings_verb(folder, "show", finding.id) == 0
    shown = capsys.readouterr().out
    assert "signal   EMPTY/empty" in shown
    assert "by ann: a quirk  twins open nothing until" in shown
    assert findings_verb(folder, "reopen", *asked) == 0
    assert f"{finding.id} is confirmed" in capsys.readouterr().out
    assert findings_verb(folder, "reopen", *asked) == 2
    assert "is open already (confirmed), since" in capsys.readouterr().err


@pytest.mark.parametrize("bound", ["0%", "51%", "five", "0.9", "5%%"])
def test_a_bound_that_is_none_is_refused(folder: Path, capsys: Capture, bound: str) -> None:
    assert findings_verb(folder, "verify", "F-1", "--bound", bound) == 2
    assert "is no share from 0.1% to 50%" in capsys.readouterr().err
