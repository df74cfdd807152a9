"""A daemon beside a serving node: what it reads is kept, shown, told of, and heeded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.node_pages import PLANTED, Page, Pages, document
from tests.fakes.node_servers import NodeServer, serving
from tests.integration.daemons import Daemon, daemon, eager
from tests.integration.processes import TARGET, Installation, install, lab, wait_until
from tests.unit.nodes.readers.shapes import info, listing, sglang_metrics

SECONDS = 60.0
CREDENTIAL = "of-the-node"


def pages(*, used: str) -> Pages:
    """Return the pages of an unsafe prefill node whose pool is in use to this share."""
    told = info(version="0.5.19", disaggregation_mode="prefill", launch_command=PLANTED)
    metrics = sglang_metrics(engine_type="prefill").replace("} 0.25", f"}} {used}")
    return {
        "GET /server_info": document(told),
        "GET /v1/models": document(listing()),
        "GET /metrics": Page(body=metrics.encode(), kind="text/plain"),
    }


@pytest.fixture
def node() -> NodeServer:
    """The node, with a token of its own."""
    return NodeServer(pages(used="0.25"), token=CREDENTIAL)


def beside(folder: Path, endpoint: object, node: NodeServer) -> Installation:
    """Write a configuration of a target and its node."""
    token = folder / "node.token"
    folder.mkdir(parents=True, exist_ok=True)
    token.touch(mode=0o600)
    token.write_text(CREDENTIAL, encoding="ascii")
    one = {"name": "prefill-0", "url": node.url, "token_file": str(token)}
    installation = eager(install(folder, endpoint, nodes=[one]))
    installation.settings["nodes"] = {"interval": "1s"}
    return installation.write()


def nodes_page(running: Daemon, folder: Path) -> dict[str, object]:
    token = (folder / "store" / "api.token").read_text("ascii").strip()
    assert running.get("/api/nodes").status_code == 401
    return running.get("/api/nodes", authorization=f"Bearer {token}").json()


def test_a_node_is_read_kept_shown_told_of_and_heeded(tmp_path: Path, node: NodeServer) -> None:
    with serving(node), lab() as endpoint:
        installation = beside(tmp_path, endpoint, node)
        with daemon(installation) as running:
            of = {"target": TARGET, "node": "prefill-0"}

            def fails() -> bool:
                return running.samples("davylamp_node_conforms") != []

            wait_until(fails, SECONDS, "the node to be judged")
            assert running.count("davylamp_node_up", **of) == 1
            assert running.count("davylamp_node_conforms", **of) == 0
            opened = {"target": TARGET, "class": "UNSAFE_NODE", "severity": "critical"}
            wait_until(
                lambda: running.count("davylamp_findings_open", **opened) == 1,
                SECONDS,
                "the finding",
            )
            [shown] = nodes_page(running, tmp_path)["nodes"]
            assert (shown["node"], shown["conformity"]) == ("prefill-0", "fail")
            wait_until(
                lambda: running.count("davylamp_exchanges_total", target=TARGET) > 0,
                SECONDS,
                "probing while there is room",
            )
            skipped = {"target": TARGET, "reason": "pressure"}
            assert running.count("davylamp_schedule_skipped_runs_total", **skipped) == 0
            node.pages = pages(used="0.99")
            wait_until(
                lambda: running.count("davylamp_schedule_skipped_runs_total", **skipped) > 0,
                SECONDS,
                "probing to wait for a full pool",
            )
            listed = installation.davylamp("findings", "list", "--json", "-")
            [finding] = json.loads(listed.stdout)["findings"]
            assert (finding["class"], finding["stratum"]) == ("UNSAFE_NODE", "prefill-0")
        said = json.dumps(installation.contents())
        log = running.log.read_text("utf-8")
    rows = json.loads(said)
    assert len(rows["node_snapshots"]) > 1
    assert sum("UNSAFE_NODE" in row for row in rows["verdicts"]) == 1
    assert all(what.startswith("GET ") for what in node.asked)
    for secret in (PLANTED, CREDENTIAL):
        assert secret not in said
        assert secret not in log
