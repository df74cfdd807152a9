"""``context verify`` as a person meets it: the ladder of real labs, stored, exported, capped."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.detect.ladder import COLD_EVERY, Read
from monitor.reports.ladder import LADDER_SCHEMA_VERSION, LadderReport
from tests.integration.daemons import daemon, idle
from tests.integration.processes import TARGET, Installation, Run, fault, install, lab

NUM_CTX = 1000
# Of a pool of 0.65 x 4096 tokens.
POOL = 2662


def climb(installation: Installation, *arguments: str) -> tuple[Run, LadderReport]:
    run = installation.davylamp("context", "verify", TARGET, "--json", "-", *arguments)
    assert run.stdout, run.output
    return run, LadderReport.model_validate_json(run.stdout)


def test_a_healthy_lab_is_verified_drawn_and_stored(healthy: Installation) -> None:
    file = healthy.folder / "ladder.json"
    run = healthy.davylamp("context", "verify", TARGET, "--json", str(file))
    report = LadderReport.model_validate_json(file.read_text("utf-8"))
    assert run.exit_code == report.exit_code == 0, report.reasons
    assert report.schema_version == LADDER_SCHEMA_VERSION
    assert report.verified_tokens > 0.97 * report.goal_tokens
    assert report.advertised_tokens == report.enforced_tokens == 4096
    assert "expected cost" in run.stderr.splitlines()[0]
    assert "###" in run.stdout
    assert "verified  cold" in run.stdout
    assert run.stdout.rstrip().endswith("GOOD (exit 0)")
    assert "\x1b" not in run.stdout + run.stderr
    rows = healthy.contents()
    assert [row[0] for row in rows["context_ladders"]] == [report.ladder]
    assert len(rows["context_rungs"]) == len(report.rungs)
    # Its trials are stored like any other, but none was scheduled.
    assert {row[0] for row in rows["trials"]} == {rung.trial for rung in report.rungs}


def test_a_front_that_is_dropped_is_found_far_below_the_limit(tmp_path: Path) -> None:
    with lab(*fault("front_dropped", num_ctx=NUM_CTX)) as endpoint:
        run, report = climb(install(tmp_path, endpoint))
    assert run.exit_code == 1
    assert report.failed_outcome is Read.TRUNCATED
    assert report.failed_tokens is not None
    assert 0.85 * NUM_CTX < report.verified_tokens < 1.1 * NUM_CTX
    assert NUM_CTX < report.failed_tokens < 1.2 * NUM_CTX


def test_the_incident_is_replaced_above_its_pool_and_read_below(leaking: Installation) -> None:
    run, report = climb(leaking)
    assert run.exit_code == 1
    assert 0 < report.verified_tokens - report.verified_error_tokens <= POOL
    assert report.rungs[1].outcome is Read.REPLACED
    assert {rung.verdict_class for rung in report.rungs} & {"WRONG_INPUT", "CROSSED", "LEAK"}


def test_a_long_context_shares_a_beginning_and_claims_what_was_cold(tmp_path: Path) -> None:
    lie = fault("front_dropped", num_ctx=5000)
    with lab("--context", "12000", *lie) as endpoint:
        _, report = climb(install(tmp_path, endpoint))
    assert report.shared_beginning
    cold = [rung for rung in report.rungs if rung.cold]
    assert len(report.rungs) > len(cold) >= len(report.rungs) / COLD_EVERY
    assert any(rung.size_tokens == report.verified_tokens for rung in cold)
    assert any(rung.cached_tokens for rung in report.rungs if not rung.cold)
    assert 4700 < report.verified_tokens < 5300


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nobody",), "no target 'nobody'"),
        ((TARGET, "--repeats", "0"), "--repeats"),
    ],
)
def test_a_wrong_command_is_a_usage_error(
    arguments: tuple[str, ...], says: str, healthy: Installation
) -> None:
    run = healthy.davylamp("context", "verify", *arguments)
    assert run.exit_code == 2
    assert says in run.stderr
    assert "Traceback" not in run.stderr


def test_the_daemon_climbs_and_exports_what_was_verified(healthy: Installation) -> None:
    _, alone = climb(healthy)
    with daemon(idle(healthy)) as running:

        def exported() -> float:
            return running.count("davylamp_context_verified_tokens", target=TARGET)

        assert exported() == alone.verified_tokens > 0
        run, report = climb(healthy)
        assert run.exit_code == 0, run.output
        assert report.ladder != alone.ladder
        assert exported() == report.verified_tokens
        told_at = running.count("davylamp_context_verified_timestamp_seconds", target=TARGET)
        assert told_at == report.started_at.timestamp() > alone.started_at.timestamp()
        assert running.count("davylamp_exchanges_total", probe="boundary") == 0
        assert running.get("/api/context").status_code == 405
        refused = healthy.davylamp("context", "verify", TARGET, "--max-tokens", "100")
        assert refused.exit_code == 3
        assert "NOT PROBED" in refused.stdout
        assert exported() == report.verified_tokens
