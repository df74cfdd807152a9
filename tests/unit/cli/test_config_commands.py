"""What ``config check`` says of a file that is well."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from monitor.cli.config_commands import DayEstimate, config_check, config_show
from monitor.config import Config, Target
from tests.unit.config.known import GOOD, load_text

TODAY = date(2026, 11, 1)
PRICE = "    price: {input_usd_per_million: 1, output_usd_per_million: 10}\n"


def estimate(_config: Config, _target: Target) -> DayEstimate:
    return DayEstimate(refused_tokens=1_000_000, answered_tokens=3_000_000, output_tokens=100_000)


def test_a_good_file(tmp_path: Path) -> None:
    config = load_text(tmp_path, GOOD)
    report = config_check(config, today=TODAY)
    rows = report.text.splitlines()
    assert rows[0] == f"OK {config.file}: 1 target, hash {config.hash}"
    assert "  tenant donor-a: donor; key $DONOR_A_KEY" in rows
    assert "  tenant victim-b: victim; key victim-b.key" in rows
    assert "  capped at: 2,000,000 tokens, at the limit 8,000,000" in rows
    assert any(row.startswith("  cannot be proven: that prompts beyond") for row in rows)
    assert report.exit_code == 0


def test_a_day_has_a_price_where_one_is_configured(tmp_path: Path) -> None:
    report = config_check(load_text(tmp_path, GOOD + PRICE), today=TODAY, estimate=estimate)
    assert "a day costs: 1,000,000 to 3,000,000 tokens, $1.90 to $3.90" in report.text
    report = config_check(load_text(tmp_path, GOOD), today=TODAY, estimate=estimate)
    assert "1,000,000 to 3,000,000 tokens (no price is configured)" in report.text
    assert "at limits it states itself" in report.text
    declared = GOOD + "    context_tokens: 4_096\n"
    report = config_check(load_text(tmp_path, declared), today=TODAY, estimate=estimate)
    assert "at limits it states itself" not in report.text


def test_an_expired_acceptance_is_reported(tmp_path: Path) -> None:
    given = "    overflow: {truncate: {owner: a-team, reason: b, expires: 2026-01-31}}\n"
    report = config_check(load_text(tmp_path, GOOD + given), today=TODAY)
    assert "WARNING: the accepted truncation expired on 2026-01-31 (owner a-team)" in report.text


def test_disabled_probes_are_shown(tmp_path: Path) -> None:
    given = "    probes: [{name: burst}, {name: golden, disabled: true}]\n"
    report = config_check(load_text(tmp_path, GOOD + given), today=TODAY)
    assert "probes: burst, golden (disabled)" in report.text


def test_show_is_the_effective_file(tmp_path: Path) -> None:
    assert config_show(load_text(tmp_path, GOOD)).text.startswith("# in force: davylamp.yaml")


def test_nodes_are_counted_and_a_target_may_have_nothing_else(tmp_path: Path) -> None:
    more = """\
    nodes: [{url: "http://n:1"}, {url: "http://n:2"}]
    node_sources: [{dns: "n.svc:1"}]
    gateway: {engine: litellm, url: "http://127.0.0.1:4000"}
  - name: only-read
    nodes: [{url: "http://n:3", accepted: [
      {rule: a-rule, owner: a-team, reason: b, expires: 2026-01-31}]}]
nodes: {addresses: [10.0.0.0/8]}
"""
    report = config_check(load_text(tmp_path, GOOD + more), today=TODAY)
    rows = report.text.splitlines()
    assert rows[0].split(": ", 1)[1].startswith("2 targets")
    assert "  nodes: 2 nodes, 1 source, gateway litellm; `davylamp nodes` reads them" in rows
    assert "only-read  read for its nodes only, never asked" in rows
    assert "  nodes: 1 node; `davylamp nodes` reads them" in rows
    assert "WARNING: the accepted rule a-rule expired on 2026-01-31" in report.text
