"""A leak of the lab becomes a certificate that holds elsewhere, and only as long as it is whole."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.daemons import daemon, idle
from tests.integration.processes import Installation, davylamp
from tests.integration.test_scan import a_live_marker


def the_leak(installation: Installation) -> str:
    """Return the id of a finding that shows what belongs to another."""
    report = installation.check("--probe", "boundary").report
    found = [each for target in report.targets for each in target.found]
    return next(
        each.finding for each in found if each.verdict_class in ("LEAK", "CROSSED") and each.finding
    )


def test_a_leak_is_shown_to_who_has_nothing_but_a_key_and_a_head(
    leaking: Installation, tmp_path: Path
) -> None:
    finding = the_leak(leaking)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file, key = elsewhere / "leak.json", elsewhere / "key.pem"
    head = leaking.davylamp("db", "audit").stdout.split()[-1]
    assert leaking.davylamp("evidence", "public-key", "--out", str(key)).exit_code == 0
    ran = leaking.davylamp("evidence", "export", finding, "--out", str(file), "--head", head)
    assert ran.exit_code == 0, ran.output

    verifying = ("evidence", "verify", str(file), "--public-key", str(key))
    # The command runs in another folder, and is given no configuration.
    shown = davylamp(*verifying, "--head", head, "--require-inclusion")
    assert shown.exit_code == 0, shown.output
    assert f"{finding} at lab" in shown.stdout
    said = json.loads(file.read_bytes())
    sighting, (marker, *_) = said["sightings"][0], said["markers"]
    assert marker["text"] in shown.stdout
    assert sighting["answered"]["trial"] in shown.stdout
    assert sighting["answered"]["request_id"] or sighting["answered"]["response_id"]

    whole = file.read_bytes()
    for before, after in (
        (marker["text"].encode(), marker["text"][::-1].encode()),
        (said["signature"].encode(), said["signature"][::-1].encode()),
        (whole[-2:], b"}"),
        (b'"version": 1', b'"version":  1'),
    ):
        file.write_bytes(whole.replace(before, after))
        assert file.read_bytes() != whole
        assert davylamp(*verifying, "--head", head).exit_code == 1
    file.write_bytes(whole)
    assert davylamp(*verifying).exit_code == 0


def test_beside_a_daemon_the_daemon_issues_it(leaking: Installation, tmp_path: Path) -> None:
    finding = the_leak(leaking)
    file, key = tmp_path / "leak.json", tmp_path / "key.pem"
    with daemon(idle(leaking)):
        assert leaking.davylamp("evidence", "public-key", "--out", str(key)).exit_code == 0
        ran = leaking.davylamp("evidence", "export", finding, "--out", str(file))
        assert ran.exit_code == 0, ran.output
        none = leaking.davylamp("evidence", "export", "F-NONE")
        assert none.exit_code == 2
    ran = davylamp("evidence", "verify", str(file), "--public-key", str(key))
    assert ran.exit_code == 0, ran.output


def test_what_somebody_reported_is_shown_as_that(healthy: Installation, tmp_path: Path) -> None:
    assert healthy.davylamp("check", "--probe", "canary").exit_code == 0
    answer, file, key = (tmp_path / name for name in ("answer.txt", "leak.json", "key.pem"))
    answer.write_text(f"Dear customer, your code is {a_live_marker(healthy)}.", "utf-8")
    assert healthy.davylamp("scan", str(answer), "--source", "ticket 4711").exit_code == 1
    finding = healthy.davylamp("findings", "list").stdout.split()[0]
    ran = healthy.davylamp("evidence", "export", finding, "--out", str(file))
    assert ran.exit_code == 0, ran.output
    (sighting,) = json.loads(file.read_bytes())["sightings"]
    assert sighting["probe"] == "scan"
    assert "Dear customer" not in file.read_text("utf-8")
    assert healthy.davylamp("evidence", "public-key", "--out", str(key)).exit_code == 0
    shown = davylamp("evidence", "verify", str(file), "--public-key", str(key))
    assert shown.exit_code == 0, shown.output
    assert "an answer that somebody reported" in shown.stdout
