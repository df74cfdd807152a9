"""``rules build`` and ``rules check``: what they write, what they find, and their exit codes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from monitor.cli import rule_sources
from monitor.cli.main import main
from monitor.cli.promtool import Said, ask_promtool
from tests.architecture.source import ROOT

CONFIG = """\
version: 1
environment: prod
storage: {path: store}
targets:
  - name: glm-prod
    engine: openai
    base_url: http://127.0.0.1:9/v1
    model: glm-5.3
    context_tokens: 8_192
    tenants: [{name: a}, {name: b}]
"""
SLOS = """\
slos:
  - {name: glm-semantic, target: glm-prod, objective: 99.9}
  - {name: glm-limits, probes: [boundary], by_probe: true, objective: 90, window: 7d}
"""
USERS = """\
version: 1
slos:
  - {name: users, sli: production, source: gw, target: glm-prod, objective: 99.9, volume: 1_000_000}
production:
  - {source: gw, requests: {metric: gw_total, code: status}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "davylamp.yaml"
    file.write_text(CONFIG + SLOS, encoding="utf-8")
    return file


def rules(*arguments: object) -> int:
    return main(["rules", *map(str, arguments)])


def test_the_shipped_rules_are_built_in_a_checkout_and_found_fresh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rules("build", "--out", tmp_path / "rules") == 0
    said = capsys.readouterr().out
    assert "semantic: fast: no rule: 5m bring 8.33 valid events" in said
    for file in (ROOT / "alerts" / "rules").glob("*.yml"):
        assert (tmp_path / "rules" / file.name).read_bytes() == file.read_bytes()
    assert rules("check", tmp_path / "rules") == 0
    assert rules("check") == 0
    many = len(list((ROOT / "alerts" / "rules").glob("*.yml")))
    assert (
        f"{many} files, as they would be built, and promtool reads them" in capsys.readouterr().out
    )


def test_own_objectives_have_the_volume_of_the_plan(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rules"
    assert rules("build", "--config", config, "--out", out) == 0
    said = capsys.readouterr().out
    assert "glm-semantic: by the plan, " in said
    [only] = out.iterdir()
    assert only.name == "own-slos.rules.yml"
    groups = yaml.safe_load(only.read_text("utf-8"))["groups"]
    assert [group["name"] for group in groups] == [
        *("davylamp-slo-glm-semantic", "davylamp-slo-glm-limits")
    ]
    exprs = " ".join(rule["expr"] for rule in groups[0]["rules"])
    assert 'davylamp_exchanges_total{outcome="bad",env="prod",target="glm-prod"}' in exprs
    assert rules("check", out, "--config", config) == 0
    # Built of one configuration they are stale for another.
    config.write_text(CONFIG + SLOS.replace("99.9", "99.5"), encoding="utf-8")
    assert rules("check", out, "--config", config) == 1
    assert "is not what would be built, from line" in capsys.readouterr().out


def test_a_folder_of_objectives_and_mappings(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slos").mkdir()
    (tmp_path / "slos" / "users.yaml").write_text(USERS, encoding="utf-8")
    config.write_text(CONFIG + "slos: slos\n", encoding="utf-8")
    assert rules("build", "--config", config, "--out", tmp_path / "rules") == 0
    names = sorted(file.name for file in (tmp_path / "rules").iterdir())
    assert names == ["own-production.rules.yml", "own-slos.rules.yml"]
    assert "users: fast: rule: 5m bring" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no objective to build from"),
        ("slos: none\n", "no such folder"),
        ("slos: slos\n", "users.yaml:3: slos[0].target: no target 'other'"),
        ("slos: [{name: semantic, objective: 99}]\n", "is the name of a shipped objective"),
    ],
)
def test_what_cannot_be_built_says_why(
    text: str, words: str, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slos").mkdir()
    other = USERS.replace("target: glm-prod", "target: other")
    (tmp_path / "slos" / "users.yaml").write_text(other, encoding="utf-8")
    config.write_text(CONFIG + text, encoding="utf-8")
    assert rules("build", "--config", config, "--out", tmp_path / "rules") == 2
    assert words in capsys.readouterr().err


def test_own_rules_need_a_folder_and_shipped_ones_a_checkout(
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert rules("build", "--config", config) == 2
    assert "--out" in capsys.readouterr().err
    installed = tmp_path / "shipped" / "alerts"
    shutil.copytree(ROOT / "alerts", installed)
    monkeypatch.setattr(rule_sources, "sources_folder", lambda: installed)
    assert rules("build") == 2
    assert "are built in a checkout of Davylamp" in capsys.readouterr().err
    # What is installed can still be checked.
    assert rules("check") == 0


def test_check_tells_stale_broken_and_unread_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "rules"
    shutil.copytree(ROOT / "alerts" / "rules", folder)
    (folder / "mine.yml").write_text("groups:\n- name: [\n", encoding="utf-8")
    assert rules("check", folder) == 1
    assert "mine.yml: no YAML, line" in capsys.readouterr().out
    (folder / "mine.yml").write_text("route: {}\n", encoding="utf-8")
    assert rules("check", folder) == 1
    assert "mine.yml: no file of rules" in capsys.readouterr().out
    bad = "groups: [{name: a, rules: [{record: b, expr: 'sum('}]}]\n"
    (folder / "mine.yml").write_text(bad, encoding="utf-8")
    assert rules("check", folder) == 1
    assert "promtool: " in capsys.readouterr().out
    (folder / "mine.yml").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert rules("check", folder) == 3
    assert "promtool is not installed" in capsys.readouterr().out
    (folder / "answers.rules.yml").unlink()
    assert rules("check", folder) == 1
    assert "answers.rules.yml: is missing" in capsys.readouterr().out


def test_nothing_to_check_is_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rules("check", tmp_path / "none") == 2
    assert rules("check", tmp_path) == 2
    assert "no rule files" in capsys.readouterr().err


def test_a_promtool_that_crashes_said_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "promtool"
    tool.write_text("not a program", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ask_promtool([tmp_path / "x.yml"]).answer is Said.ABSENT
