"""``scan`` as a command: alone and beside a daemon, one answer and many."""

from __future__ import annotations

import json
from pathlib import Path

from monitor.app import opened_storage
from monitor.configured import read_config
from tests.integration.daemons import daemon, idle
from tests.integration.processes import Endpoint, Installation, install


def a_live_marker(installation: Installation) -> str:
    """Return a marker that the installation minted, as its own store knows it."""
    from contextlib import ExitStack

    with ExitStack() as resources:
        store, _ = opened_storage(read_config(str(installation.config)), resources)
        live = [entry.groups for entry in store.markers.load() if entry.groups]
    return "-".join(live[0])


def asked(tmp_path: Path, lab: Endpoint) -> tuple[Installation, str]:
    installation = idle(install(tmp_path, lab))
    assert installation.davylamp("check", "--probe", "canary").exit_code == 0
    return installation, a_live_marker(installation)


def test_a_reported_answer_with_our_marker_opens_a_finding(
    healthy_lab: Endpoint, tmp_path: Path
) -> None:
    installation, marker = asked(tmp_path, healthy_lab)
    answer = tmp_path / "answer.txt"
    answer.write_text(f"Dear customer, your code is {marker}.", "utf-8")
    ran = installation.davylamp("scan", str(answer), "--source", "ticket 4711")
    assert ran.exit_code == 1, ran.output
    assert "LEAK" in ran.stdout
    assert "written for" in ran.stdout
    listed = installation.davylamp("findings", "list")
    assert "LEAK" in listed.stdout
    shown = installation.davylamp("findings", "show", listed.stdout.split()[0])
    assert "ticket-4711" in shown.stdout
    trial = shown.stdout.split("davylamp explain ")[1].split()[0]
    explained = installation.davylamp("explain", trial)
    assert "ticket 4711" in explained.stdout
    assert "Dear customer" not in explained.stdout
    clean = tmp_path / "clean.txt"
    clean.write_text("Nothing to see here.", "utf-8")
    assert installation.davylamp("scan", str(clean)).exit_code == 0


def test_json_lines_through_the_daemon_that_owns_the_store(
    healthy_lab: Endpoint, tmp_path: Path
) -> None:
    installation, marker = asked(tmp_path, healthy_lab)
    many, out = tmp_path / "many.jsonl", tmp_path / "found.jsonl"
    rows = [{"answer": f"Fine, number {number}."} for number in range(200)]
    rows[150] = {"answer": f"It is {marker}.", "name": "case 151"}
    text = "\n".join([*map(json.dumps, rows), "no json at all"])
    many.write_text(text, "utf-8")
    with daemon(installation):
        ran = installation.davylamp("scan", str(many), "--json", str(out))
    assert ran.exit_code == 1, ran.output
    assert "line 201: is no JSON" in ran.stderr
    found = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(found) == 200
    assert [each["name"] for each in found if each["outcome"] == "bad"] == ["case 151"]
    assert found[150]["class"] == "LEAK"


def test_what_cannot_be_read_is_never_called_fine(healthy_lab: Endpoint, tmp_path: Path) -> None:
    installation = idle(install(tmp_path, healthy_lab))
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"answer": "fine"}\n{', "utf-8")
    assert installation.davylamp("scan", str(broken)).exit_code == 3
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", "utf-8")
    assert installation.davylamp("scan", str(empty)).exit_code == 2
    assert installation.davylamp("scan", str(tmp_path / "none.txt")).exit_code == 2
    tenant = installation.davylamp("scan", str(broken), "--format", "text", "--tenant", "nobody")
    assert tenant.exit_code == 2
    assert "no such tenant" in tenant.output
    named = installation.davylamp("scan", str(broken), "--target", "nobody")
    assert named.exit_code == 2
    assert "no target 'nobody'" in named.stderr
