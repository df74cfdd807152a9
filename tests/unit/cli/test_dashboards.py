"""``dashboards build|check|push``: what they write, find and send, and their exit codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.cli import dashboards_verb
from monitor.cli.main import main
from tests.architecture.source import ROOT
from tests.fakes.grafana import TOKEN, Grafana, serving
from tests.integration.processes import free_port

GENERATED = ROOT / "dashboards" / "generated"
UIDS = {
    *("davylamp-overview", "davylamp-target", "davylamp-leak"),
    *("davylamp-nodes", "davylamp-economy", "davylamp-monitor"),
}


@pytest.fixture
def grafana(monkeypatch: pytest.MonkeyPatch) -> Iterator[Grafana]:
    monkeypatch.setenv("GRAFANA_TOKEN", TOKEN)
    with serving() as running:
        yield running


def dashboards(*arguments: object) -> int:
    return main(["dashboards", *map(str, arguments)])


def pushed(grafana: Grafana, *arguments: object) -> int:
    return dashboards("push", "--url", grafana.url, "--token-env", "GRAFANA_TOKEN", *arguments)


def test_they_are_built_in_a_checkout_as_they_are_shipped(tmp_path: Path) -> None:
    assert dashboards("build", "--out", tmp_path / "made") == 0
    made = {file.name: file.read_bytes() for file in (tmp_path / "made").iterdir()}
    assert made == {file.name: file.read_bytes() for file in GENERATED.iterdir()}


def test_an_installed_davylamp_says_where_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dashboards_verb, "dashboards_folder", lambda: tmp_path / "dashboards")
    assert dashboards("build") == 2
    assert str(tmp_path / "dashboards") in capsys.readouterr().err


def test_without_grafanalib_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dashboards_verb, "find_spec", lambda name: None)
    assert dashboards("build") == 2
    assert "make install" in capsys.readouterr().err


def test_the_shipped_ones_have_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert dashboards("check") == 0
    assert "6 dashboards" in capsys.readouterr().out


def broken_by(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Return a folder with a dashboard that was changed."""
    shutil.copy(GENERATED / "monitor.json", folder / "monitor.json")
    data = json.loads((folder / "monitor.json").read_text("utf-8"))
    change(data)
    (folder / "monitor.json").write_text(json.dumps(data), encoding="utf-8")
    return folder


def asking(panel: dict[str, Any], **target: str) -> None:
    panel["targets"][0] |= target


def first(data: dict[str, Any], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(p for p in data["panels"] if p["type"] == kind)
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.pop("schemaVersion"), "'schemaVersion' is a required property"),
        (lambda d: d.update(hideControls=True), "'hideControls' was unexpected"),
        (lambda d: first(d, "stat").update(thresholds=[]), "'thresholds' was unexpected"),
        (lambda d: first(d, "timeseries")["options"].update(legend={}), "is a required property"),
        (lambda d: first(d, "timeseries").pop("description"), "has no description"),
        (
            lambda d: first(d, "stat")["fieldConfig"]["defaults"].pop("noValue"),
            "has no reason why it may be empty",
        ),
        (lambda d: first(d, "stat").update(type="singlestat"), "a kind of panel nobody checked"),
        (
            lambda d: asking(first(d, "stat"), expr="sum(davylamp_findings_opened)"),
            "davylamp_findings_opened: this version exports no such metric",
        ),
        (
            lambda d: asking(first(d, "stat"), expr="davylamp:slo_burn:ratio"),
            "davylamp:slo_burn:ratio: no rule records it",
        ),
        (
            lambda d: asking(first(d, "stat"), rawSql="SELECT 1 FROM verdict JOIN trials"),
            "verdict: the store has no such table",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, Any]], None],
    words: str,
) -> None:
    assert dashboards("check", broken_by(tmp_path, change)) == 1
    said = capsys.readouterr().out
    assert words in said
    assert str(tmp_path / "monitor.json") in said


@pytest.mark.parametrize("text", ["", "[1]", "{", "[" * 100_000, "\ud800"])
def test_what_is_no_dashboard_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    assert dashboards("check", tmp_path) == 2
    assert "x.json: no" in capsys.readouterr().err


def test_a_folder_without_any_is_a_usage_error(tmp_path: Path) -> None:
    assert dashboards("check", tmp_path) == 2
    assert dashboards("check", tmp_path / "absent") == 2


def test_they_are_pushed_into_a_folder_that_is_made(
    grafana: Grafana, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pushed(grafana, "--folder", "llm", "--title", "Language models") == 0
    assert grafana.folders == {"llm": "Language models"}
    assert grafana.dashboards.keys() == UIDS
    assert {each["folder"] for each in grafana.dashboards.values()} == {"llm"}
    said = capsys.readouterr()
    assert "folder llm: made" in said.out
    assert TOKEN not in said.out + said.err


def test_what_is_there_already_is_only_replaced_if_asked(
    grafana: Grafana, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pushed(grafana) == 0
    assert pushed(grafana) == 1
    assert "push with --overwrite" in capsys.readouterr().out
    assert {each["version"] for each in grafana.dashboards.values()} == {1}
    assert pushed(grafana, "--overwrite") == 0
    assert {each["version"] for each in grafana.dashboards.values()} == {2}


def test_a_dry_run_sends_nothing(grafana: Grafana, capsys: pytest.CaptureFixture[str]) -> None:
    assert pushed(grafana, "--dry-run") == 0
    assert grafana.arrived == []
    said = capsys.readouterr().out
    assert all(uid in said for uid in UIDS)


def test_a_token_that_is_refused_or_may_not_write_is_said(
    grafana: Grafana, capsys: pytest.CaptureFixture[str]
) -> None:
    grafana.may_write = False
    assert pushed(grafana) == 1
    assert "HTTP 403: the token may not do this" in capsys.readouterr().out
    grafana.token = TOKEN[::-1]
    assert pushed(grafana) == 1
    assert "HTTP 401: the token is not accepted" in capsys.readouterr().out
    assert grafana.dashboards == {}


def test_why_it_saves_nothing_is_said(grafana: Grafana, capsys: pytest.CaptureFixture[str]) -> None:
    grafana.from_files = True
    assert pushed(grafana, "--overwrite") == 1
    said = capsys.readouterr().out
    assert "HTTP 400: it comes from a file there (provisioned), or is not as that version" in said
    grafana.folders.clear()
    grafana.title_taken = True
    assert pushed(grafana) == 1
    assert "HTTP 409: a folder of this title is there already (--folder)" in capsys.readouterr().out
    assert grafana.dashboards == {}


def test_a_page_to_log_in_is_no_grafana(
    grafana: Grafana, capsys: pytest.CaptureFixture[str]
) -> None:
    grafana.login = "<html>log in</html>"
    assert pushed(grafana) == 1
    said = capsys.readouterr().out
    assert "not as Grafana answers" in said
    assert "saved" not in said


def test_a_token_comes_from_a_file_too(tmp_path: Path, grafana: Grafana) -> None:
    file = tmp_path / "grafana.token"
    file.write_text(f"{TOKEN}\n", encoding="ascii")
    assert dashboards("push", "--url", grafana.url, "--token-file", file) == 0
    assert grafana.dashboards.keys() == UIDS


def test_a_grafana_that_does_not_answer_is_no_refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dashboards("push", "--url", f"http://127.0.0.1:{free_port()}") == 3
    assert "gave no answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--url", "ftp://grafana"), "--url"),
        (("--url", "http://grafana.example", "--token-env", "GRAFANA_TOKEN"), "in clear"),
        (("--url", "https://g.example", "--token-env", "NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE"),
        (
            ("--url", "https://g.example", "--token-env", "A", "--token-file", "b"),
            "not both",
        ),
        (("--url", "https://g.example", "--folder", "../../x?y"), "--folder: a uid is"),
    ],
)
def test_what_cannot_be_sent_is_refused_before(
    grafana: Grafana,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    assert dashboards("push", *arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert TOKEN not in said
