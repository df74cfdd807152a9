"""``check`` as a user or a pipeline meets it: exits, JSON, JUnit, budgets, findings, secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from monitor.reports.check import SCHEMA_VERSION
from tests.integration.processes import TARGET, Endpoint, Installation, davylamp, free_port, install

if TYPE_CHECKING:
    from pathlib import Path

NEVER_KEY = "sk-davylamp-planted-key-5f0c1e"


def test_the_json_carries_all_that_the_contract_promises(leaking: Installation) -> None:
    run = leaking.check("--profile", "quick")
    report, target = run.report, run.target
    assert report.schema_version == SCHEMA_VERSION
    assert report.davylamp_version
    assert report.checks_version
    assert len(report.configuration_hash) >= 12
    assert report.environment == "testing"
    assert report.profile == "quick"
    assert report.started_at < report.finished_at
    assert report.exit_code == run.exit_code == target.exit_code == 1
    assert target.engine == "sglang"
    assert [limit.tokens for limit in target.limits] == [4096]
    assert target.unseen
    assert all(0 < row.upper_bound <= 1 for row in target.unseen)
    assert target.tokens.input
    assert target.tokens.ordinary_left < target.tokens.ordinary_budget
    exchanges = [exchange for trial in target.trials for exchange in trial.exchanges]
    assert target.http.exchanges == len(exchanges)
    # What was broken off before its answer began has no id of the target's.
    ids = [e.request_id for e in exchanges if e.failure != "cancelled" or e.request_id]
    assert 0 < len(exchanges) - len(ids) <= 2
    assert all(ids)
    assert all(exchange.signals for exchange in exchanges)
    assert len(set(ids)) == len(ids)
    codes = {signal.code for exchange in exchanges for signal in exchange.signals}
    wanted = "NONCE FOREIGN ONTOPIC FACT NEEDLE USAGE_IN USAGE_OUT FINISH EMPTY SPECIAL REPEAT"
    assert codes >= {*wanted.split(), "BOUNDARY"}
    assert {signal.status for e in exchanges for signal in e.signals} <= {"pass", "fail", "skip"}


def test_the_terminal_says_the_worst_first_in_plain_words(leaking: Installation) -> None:
    run = leaking.davylamp("check", "--probe", "boundary")
    assert run.exit_code == 1
    labels = [line.split()[0] for line in run.stdout.splitlines() if line.startswith("  ")]
    assert labels[:3] == ["HTTP", "ANSWERS", "LEAK"]
    assert "the answer carries another tenant's text, proven" in run.stdout
    assert "bits (proven)" in run.stdout
    assert "request id" in run.stdout
    assert "davylamp explain trial-" in run.stdout
    assert run.stdout.rstrip().endswith("BAD (exit 1)")
    assert "LEAK" in run.stderr  # progress, as plain lines
    assert "\x1b" not in run.stdout + run.stderr


def test_json_and_junit_go_to_files(leaking: Installation) -> None:
    json, junit = leaking.folder / "report.json", leaking.folder / "report.xml"
    run = leaking.davylamp(
        "check", "--probe", "boundary", "--json", str(json), "--junit", str(junit)
    )
    assert run.exit_code == 1
    assert "LEAK" in run.stdout
    assert '"schema_version"' in json.read_text("utf-8")
    (suite,) = ET.parse(junit).getroot().iter("testsuite")
    failures = list(suite.iter("failure"))
    assert "LEAK" in {failure.get("type") for failure in failures}
    assert int(suite.get("failures", 0)) == len(failures)
    assert int(suite.get("tests", 0)) == len(list(suite.iter("testcase")))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--target", "nobody"), "no target 'nobody'"),
        (("--probe", "nothing"), "no probe 'nothing'"),
        (("--profile", "fast"), "no profile 'fast'"),
        (("--flag",), "--flag"),
    ],
)
def test_a_wrong_selection_is_a_usage_error(
    arguments: tuple[str, ...], says: str, healthy: Installation
) -> None:
    run = healthy.check(*arguments)
    assert run.exit_code == 2
    assert says in run.stderr
    assert run.stdout == ""
    assert "Traceback" not in run.stderr


def test_a_missing_configuration_is_a_usage_error(tmp_path: Path) -> None:
    run = davylamp("check", "--config", str(tmp_path / "none.yaml"))
    assert run.exit_code == 2
    assert "none.yaml" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_stratum_too_dear_is_not_probed_with_its_price(healthy: Installation) -> None:
    entry = healthy.settings["targets"][0]
    entry["boundary_budget"] = {"tokens": 100}
    entry["price"] = {"input_usd_per_million": 2.0, "output_usd_per_million": 8.0}
    healthy.write()
    run = healthy.check("--probe", "boundary", "--probe", "canary")
    assert run.exit_code == 0, run.output
    gaps = run.target.not_probed
    assert {gap.stratum.partition("/")[0] for gap in gaps} == {"over-4096", "under-4096"}
    for gap in gaps:
        assert gap.code == "budget"
        assert gap.refused_tokens
        assert gap.answered_tokens
        assert gap.answered_tokens >= gap.refused_tokens
        assert gap.price_usd
    shown = healthy.davylamp(
        "check", "--probe", "boundary", "--probe", "canary", "--require-coverage"
    )
    assert shown.exit_code == 3
    assert "NOT PROBED" in shown.stdout
    assert "(price " in shown.stdout


def test_one_tenant_is_allowed_and_what_it_cannot_prove_is_said(
    healthy_lab: Endpoint, tmp_path: Path
) -> None:
    keys = dict([next(iter(healthy_lab.keys.items()))])
    one = Endpoint(
        url=healthy_lab.url,
        model=healthy_lab.model,
        keys=keys,
        context_tokens=healthy_lab.context_tokens,
    )
    run = install(tmp_path, one).check("--profile", "quick")
    assert run.exit_code == 0, run.output
    assert any("tenant" in reason for reason in run.target.impossible)


def test_an_unreachable_target_is_an_error_never_bad(healthy_lab: Endpoint, tmp_path: Path) -> None:
    nowhere = Endpoint(
        url=f"http://127.0.0.1:{free_port()}/v1", model=healthy_lab.model, keys=healthy_lab.keys
    )
    run = install(tmp_path, nowhere).check("--profile", "quick")
    assert run.exit_code == 3, run.output
    target = run.target
    assert target.verdict == "could not tell"
    assert target.found == []
    assert target.answers.valid == 0
    assert target.http.codes == {}
    assert target.http.without_status == target.http.exchanges > 0
    assert {e.reason for t in target.trials for e in t.exchanges} == {"no connection"}


def test_a_wrong_key_is_an_error_with_its_reason(healthy_lab: Endpoint, tmp_path: Path) -> None:
    keys = dict.fromkeys(healthy_lab.keys, NEVER_KEY)
    wrong = Endpoint(url=healthy_lab.url, model=healthy_lab.model, keys=keys)
    installation = install(tmp_path, wrong)
    for file in installation.folder.glob("*.key"):  # keys must differ from tenant to tenant
        file.write_text(f"{NEVER_KEY}-{file.stem}", encoding="ascii")
    run = installation.check("--profile", "quick")
    assert run.exit_code == 3, run.output
    assert set(run.target.http.codes) == {"401"}
    (reason,) = {e.reason for t in run.target.trials for e in t.exchanges}
    assert "401" in reason
    assert_absent(NEVER_KEY, installation, run.stdout + run.stderr)


def test_the_day_s_budget_survives_restarts(healthy: Installation) -> None:
    first = healthy.check("--probe", "canary").target
    spent = first.tokens.ordinary_budget - first.tokens.ordinary_left
    assert spent > 0
    assert first.not_probed == []

    healthy.settings["targets"][0]["daily_budget"] = {"tokens": spent * 3 // 2}
    run = healthy.write().check("--probe", "canary", "--require-coverage")
    assert run.exit_code == 3, run.output
    assert 0 < len(run.target.not_probed) < len(first.trials)
    assert {gap.code for gap in run.target.not_probed} == {"budget"}
    assert 0 <= run.target.tokens.ordinary_left < spent // 2


def test_a_leak_holds_its_shape_back_until_a_person_resolves_it(leaking: Installation) -> None:
    first = leaking.check("--probe", "boundary")
    assert first.exit_code == 1
    finding = first.target.found[0].finding
    assert finding

    second = leaking.check("--probe", "boundary", "--probe", "canary")
    assert second.exit_code == 1, second.output
    assert {trial.probe for trial in second.target.trials} == {"canary"}
    held = [gap for gap in second.target.not_probed if gap.probe == "boundary"]
    assert {gap.code for gap in held} == {"frozen"}
    assert all(finding in gap.reason for gap in held)
    assert [entry.finding for entry in second.target.open_findings] == [finding]

    listed = leaking.davylamp("findings", "list")
    assert listed.exit_code == 0
    assert finding in listed.stdout
    assert "LEAK" in listed.stdout
    shown = leaking.davylamp("findings", "show", finding)
    assert "davylamp explain trial-" in shown.stdout
    resolved = leaking.davylamp("findings", "resolve", finding, "--why", "rolled back")
    assert resolved.exit_code == 0
    assert finding not in leaking.davylamp("findings", "list").stdout

    third = leaking.check("--probe", "boundary")
    assert third.exit_code == 1
    assert {trial.probe for trial in third.target.trials} == {"boundary"}
    assert third.target.found[0].finding not in (None, finding)


def test_explain_tells_a_trial_without_a_secret_or_a_word_of_its_answer(
    leaking: Installation, leaking_lab: Endpoint
) -> None:
    run = leaking.check("--probe", "boundary")
    found = run.target.found[0]
    told = leaking.davylamp("explain", found.trial)
    assert told.exit_code == 0, told.output
    for wanted in (found.trial, found.stratum, "LEAK", found.request_id, found.finding):
        assert str(wanted) in told.stdout
    for key in leaking_lab.keys.values():
        assert_absent(key, leaking, told.stdout + told.stderr + run.stdout + run.stderr)
    # The filler of the prompts, and the question; the lab's answers repeat neither key nor filler.
    for text in ("The morning train left", "pass phrases of the head gate"):
        assert_absent(text, leaking, told.stdout + told.stderr + run.stdout + run.stderr)


def test_explain_of_an_unknown_trial_is_a_usage_error(healthy: Installation) -> None:
    run = healthy.davylamp("explain", "trial-none")
    assert run.exit_code == 2
    assert "no such trial" in run.stderr


def test_two_targets_are_checked_side_by_side(
    healthy_lab: Endpoint, leaking_lab: Endpoint, tmp_path: Path
) -> None:
    both = install(tmp_path, healthy_lab)
    other = install(tmp_path / "other", leaking_lab, name="leaky").settings["targets"][0]
    both.settings["targets"].append(other)
    run = both.write().check("--probe", "boundary", "--probe", "canary")
    exits = {target.target: target.exit_code for target in run.report.targets}
    assert exits == {TARGET: 0, "leaky": 1}, run.output
    assert run.exit_code == 1


def assert_absent(secret: str, installation: Installation, printed: str) -> None:
    """The secret is neither in what was printed nor anywhere in the store."""
    assert secret not in printed
    assert secret.encode() not in installation.store_bytes()
    assert secret not in str(installation.contents())
