"""``davylamp check`` against a real engine with a real, very weak model.

What is deterministic there is asserted: limits, counts, no leak, errors told from wrong answers.
How often a 135M-parameter model is wrong is its own business, carried by the tolerance.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from monitor.verdicts import CONSEQUENCES

SLOT_TOKENS = 2048
HARD = {"LEAK", "CROSSED", "WRONG_INPUT", "CORRUPT", "CONTRACT"}
MANY_EXCHANGES = """
      - {name: golden, params: {count: 32}}
      - {name: canary, params: {count: 24}}
      - {name: tenant, params: {rounds: 6}}
      - {name: burst, params: {bursts: 6}}
      - {name: prefix, params: {pairs: 5}}
      - {name: repeat}
      - {name: turns, params: {pairs: 2, turns: 4}}
      - {name: pair, params: {rounds: 1}}
      - {name: combined, params: {concurrency: [2], cells: 4}}
      - {name: abort}
      - {name: boundary, params: {rounds: 2}}"""

# Each is asked thrice, as all of them are wrong and confirmed.
SOME_OF_EACH_FORM = """
      - {name: golden, params: {count: 6}}
      - {name: canary}
      - {name: burst}
      - {name: turns, params: {turns: 3, returning: 0}}
      - {name: boundary}"""


def check(
    folder: Path, url: str, *, probes: str, tolerance: float = 0.95, profile: str | None = None
) -> tuple[int, dict[str, Any], str]:
    """Run ``check`` as a user would; give its exit code, its JSON target, and its stdout."""
    config = folder / "davylamp.yaml"
    config.write_text(
        f"""
version: 1
storage: {{path: ./store}}
defaults: {{timeout: 5m}}
targets:
  - name: smollm2
    engine: openai
    base_url: {url}/v1
    model: smollm2
    tolerance: {tolerance}
    gentle: false
    tenants: [{{name: tenant-a}}, {{name: tenant-b}}]
    probes: {probes}
""",
        encoding="utf-8",
    )
    report = folder / "report.json"
    command = [sys.executable, "-c", "from monitor.cli.main import run; run()", "check"]
    command += ["--config", str(config), "--json", str(report)]
    command += ["--profile", profile] if profile else []
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000)
    assert report.exists(), done.stderr
    return done.returncode, json.loads(report.read_text())["targets"][0], done.stdout


@pytest.fixture(scope="session")
def healthy(
    llama: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, dict[str, Any], str]:
    """Give what a pass of more than 200 exchanges says of the healthy server."""
    return check(tmp_path_factory.mktemp("healthy"), llama, probes=MANY_EXCHANGES)


def exchanges(target: dict[str, Any]) -> list[dict[str, Any]]:
    return [e for trial in target["trials"] for e in trial["exchanges"]]


def test_no_hard_class_in_more_than_200_exchanges(healthy) -> None:
    code, target, _ = healthy
    assert len(exchanges(target)) >= 200
    assert {e["class"] for e in exchanges(target)} <= {"none", "WRONG", "SUSPECT"}
    assert not {found["class"] for found in target["found"]} & HARD
    assert code in (0, 3)
    assert target["open_findings"] == []


def test_weakness_is_shown_as_k_of_n_against_the_tolerance(healthy) -> None:
    _, target, stdout = healthy
    answers = target["answers"]
    assert answers["valid"] == sum(exchange["counted"] for exchange in exchanges(target))
    assert 0 < answers["wrong"] < answers["valid"]
    assert f"{answers['wrong']} of {answers['valid']} wrong" in stdout


def test_the_refusal_over_the_slot_is_good_and_the_limit_was_discovered(healthy) -> None:
    _, target, _ = healthy
    assert [limit["tokens"] for limit in target["limits"]] == [SLOT_TOKENS]
    refused = [e for e in exchanges(target) if e["refused"]]
    assert refused
    assert {(e["http_status"], e["outcome"]) for e in refused} == {(400, "good")}


def test_sizes_at_the_limit_are_exact_because_the_engine_counts(healthy) -> None:
    _, target, _ = healthy
    at_limit = [t for t in target["trials"] if t["probe"] == "boundary"]
    for trial in at_limit:
        victim = trial["exchanges"][-1]
        signals = {s["code"]: s for s in victim["signals"]}
        assert "± 0 of 2048" in signals["BOUNDARY"]["explanation"] or victim["refused"]
        assert signals["USAGE_IN"]["status"] in ("pass", "skip")


def test_error_and_bad_are_never_confused(healthy, tmp_path: Path) -> None:
    _, target, _ = healthy
    assert target["outcomes"]["error"] == 0
    assert target["outcomes"]["invalid"] == 0
    code, gone, _ = check(tmp_path, "http://127.0.0.1:9", probes="quick", profile="quick")
    assert code == 3
    assert gone["outcomes"]["bad"] == 0
    assert gone["outcomes"]["error"] > 0


def test_a_template_that_ignores_the_messages_is_wrong_input_from_usage_alone(
    llama_ignoring: str, tmp_path: Path
) -> None:
    code, target, _ = check(tmp_path, llama_ignoring, probes=SOME_OF_EACH_FORM)
    assert code == 1
    assert {str(s) for s in target["http"]["codes"]} == {"200"}
    worst = target["found"][0]
    assert worst["class"] == "WRONG_INPUT"
    canaries = [e for t in target["trials"] if t["probe"] == "canary" for e in t["exchanges"]]
    for exchange in canaries:
        failed = [(s["code"], s["variant"]) for s in exchange["signals"] if s["status"] == "fail"]
        # Flags are left out: the same answer to everything is rightly one.
        bad = {code for code, variant in failed if CONSEQUENCES[code, variant].kind != "flag"}
        assert "USAGE_IN" in bad
        assert bad <= {"USAGE_IN", "NONCE", "ONTOPIC", "FINISH", "REPEAT"}
        assert exchange["class"] == "WRONG_INPUT"
