"""The exporter as a process, over a stub of the driver's library, read as Prometheus does."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.gpu.hardware import has_gpu
from tests.fakes import nvml
from tests.fakes.node_pages import Page, document
from tests.fakes.node_servers import NodeServer, serving
from tests.integration.daemons import daemon, idle
from tests.integration.processes import (
    COMMAND,
    TARGET,
    davylamp,
    first_line,
    install,
    lab,
    process,
    wait_until,
)
from tests.unit.gpu.shapes import QWEN3_235B
from tests.unit.gpu.test_dcgm import PAGE
from tests.unit.nodes.readers.shapes import info, listing, sglang_metrics

if TYPE_CHECKING:
    import subprocess

SECONDS = 60.0
GIB = 1024**3
POOL, USED, BYTES = 40_960, 1_000, 48_128
PLANTED = "sk-planted0123456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A running exporter, where it serves, what it wrote, and the file its library reads."""

    process: subprocess.Popen[str] = field(repr=False)
    url: str
    log: Path
    told: Path

    def page(self) -> str:
        """Return the page of metrics."""
        answer = httpx.get(self.url, trust_env=False, timeout=10.0)
        assert answer.status_code == 200
        return answer.text

    def value(self, name: str, /, **labels: str) -> float | None:
        """Return the value of the one series with these labels."""
        found = [
            sample.value
            for family in text_string_to_metric_families(self.page())
            for sample in family.samples
            if sample.name == f"davylamp_{name}" and labels.items() <= sample.labels.items()
        ]
        assert len(found) <= 1, (name, labels)
        return found[0] if found else None

    def becomes(self, wanted: float, name: str, /, **labels: str) -> None:
        """Wait until a series has this value."""
        wait_until(lambda: self.value(name, **labels) == wanted, SECONDS, f"{name} {labels}")


@contextlib.contextmanager
def exporter(folder: Path, *options: str, library: bool = True, **told: int) -> Iterator[Serving]:
    """Run the exporter on a free port while entered."""
    file = nvml.say(folder / "told", **told)
    there = nvml.build(folder) if library else nvml.none(folder)
    log = folder / "exporter.log"
    command = ["env", f"LD_LIBRARY_PATH={there}", f"STUB_NVML={file}", COMMAND, "exporter"]
    listening = ["--listen", "127.0.0.1:0", "--interval", "1s", "--env", "prod"]
    with process([*command, *listening, *options], stderr=log) as started:
        line = first_line(started)
        assert line.startswith("serving http://127.0.0.1:"), log.read_text("utf-8")
        yield Serving(process=started, url=line.split()[1], log=log, told=file)


def test_it_serves_what_the_gpus_say_and_ends_when_told(tmp_path: Path) -> None:
    with exporter(tmp_path) as serves:
        assert serves.value("gpu_driver_state", env="prod", state="ok") == 1
        assert serves.value("gpu_info", gpu="0", name="Stub S100 80GB", driver="580.65.06") == 1
        assert serves.value("gpu_memory_used_bytes", gpu="1") == 60 * GIB
        assert serves.value("gpu_memory_reserved_bytes", gpu="1") == GIB
        assert serves.value("gpu_process_memory_bytes", gpu="0", process="sglang") == 50 * GIB
        assert serves.value("gpu_ecc_errors_total", gpu="0", kind="corrected") == 7
        assert serves.value("gpu_unread", gpu="0", kind="mig", reason="not_supported") == 1
        assert serves.value("gpu_xid_events_total", gpu="1", code="79") == 0
        assert serves.value("build_info") is None
        assert PLANTED not in serves.page()
        health = serves.url.replace("/metrics", "/healthz")
        assert httpx.get(health, trust_env=False).text == "ok\n"
        nowhere = httpx.get(serves.url, headers={"host": "evil.example"}, trust_env=False)
        assert nowhere.status_code == 200
        other = serves.url.replace("/metrics", "/x")
        assert (
            httpx.get(other, headers={"host": "evil.example"}, trust_env=False).status_code == 400
        )
        serves.process.terminate()
        assert serves.process.wait(SECONDS) == 0
    said = serves.log.read_text("utf-8")
    assert "Traceback" not in said
    assert PLANTED not in said


def test_an_error_that_the_driver_reports_shows_up(tmp_path: Path) -> None:
    with exporter(tmp_path) as serves:
        nvml.say(serves.told, xids=2, xid=79)
        serves.becomes(2, "gpu_xid_events_total", gpu="1", code="79")
        assert serves.value("gpu_xid_events_total", gpu="0", code="79") == 0


def test_a_gpu_is_lost_and_comes_back_while_it_serves(tmp_path: Path) -> None:
    with exporter(tmp_path) as serves:
        nvml.say(serves.told, gpu1=15)
        serves.becomes(0, "gpu_up", gpu="1")
        assert serves.value("gpu_state", gpu="1", state="lost") == 1
        assert serves.value("gpu_error_code", gpu="1") == 15
        assert serves.value("gpu_memory_used_bytes", gpu="1") is None
        assert serves.value("gpu_memory_used_bytes", gpu="0") == 60 * GIB
        nvml.say(serves.told, init=9)
        serves.becomes(1, "gpu_driver_state", state="no_driver")
        assert serves.value("gpu_up", gpu="0") == 0
        nvml.say(serves.told)
        serves.becomes(60 * GIB, "gpu_memory_used_bytes", gpu="1")
        assert serves.value("gpu_up", gpu="1") == 1


def test_a_driver_that_hangs_holds_up_neither_pages_nor_the_end(tmp_path: Path) -> None:
    with exporter(tmp_path) as serves:
        nvml.say(serves.told, hang=1)
        sign = serves.told.with_name(f"{serves.told.name}.hangs")
        wait_until(sign.exists, SECONDS, "a driver that hangs")
        # No later reading comes: what is shown is the last one, until it is stale.
        at = serves.value("gpu_last_read_timestamp_seconds")
        assert at is not None
        assert serves.value("gpu_memory_used_bytes", gpu="1") == 60 * GIB
        assert serves.value("gpu_last_read_timestamp_seconds") == at
        assert serves.process.poll() is None
        serves.process.terminate()
        assert serves.process.wait(SECONDS) == 0
    assert "Traceback" not in serves.log.read_text("utf-8")


def test_without_a_library_it_serves_and_says_so(tmp_path: Path) -> None:
    # A KV pool is configured, so there must be GPUs.
    with exporter(tmp_path, "--bytes-per-token", "100", library=False) as serves:
        assert serves.value("gpu_driver_state", state="no_library") == 1
        assert serves.value("gpu_driver_state", state="no_gpu") == 0
        assert serves.value("gpu_driver_state", state="ok") == 0
        assert serves.value("gpu_driver_error_code") == 12
        assert serves.value("gpu_up", gpu="0") is None


def test_without_a_library_and_a_gpu_there_is_none(tmp_path: Path) -> None:
    # Whether this machine has one is what its kernel shows.
    state = "no_gpu" if has_gpu() is False else "no_library"
    with exporter(tmp_path, library=False) as serves:
        assert serves.value("gpu_driver_state", state=state) == 1
        assert serves.value("gpu_up", gpu="0") is None


def engine(**options: object) -> NodeServer:
    """Return a node whose engine says how many tokens its KV pool holds."""
    return NodeServer(
        {
            "GET /server_info": document(info(**options)),
            "GET /v1/models": document(listing()),
            "GET /metrics": Page(body=sglang_metrics().encode(), kind="text/plain"),
        }
    )


def test_tokens_of_an_engine_are_told_as_bytes_beside_what_the_gpus_have_allocated(
    tmp_path: Path,
) -> None:
    model = tmp_path / "config.json"
    model.write_text(json.dumps(QWEN3_235B), "utf-8")
    node = engine()
    with serving(node):
        options = ("--node", node.url, "--model-config", str(model), "--target", "glm")
        with exporter(tmp_path, *options) as serves:
            of = {"target": "glm", "node": node.url.removeprefix("http://")}
            assert serves.value("kv_pool_bytes", **of, state="used") == USED * BYTES
            assert serves.value("kv_pool_bytes", **of, state="reserved") == (POOL + 64) * BYTES
            assert serves.value("kv_pool_unattributed", **of) is None


@pytest.mark.parametrize(
    ("figure", "reason"), [("1e9", "exceeds_process_memory"), (None, "no_model_config")]
)
def test_a_pool_that_cannot_be_attributed_says_why(
    tmp_path: Path, figure: str | None, reason: str
) -> None:
    node = engine()
    with serving(node):
        options = () if figure is None else ("--bytes-per-token", figure)
        with exporter(tmp_path, "--node", node.url, *options) as serves:
            assert serves.value("kv_pool_unattributed", target="local", reason=reason) == 1
            assert serves.value("kv_pool_bytes", state="used") is None


def test_a_port_that_is_taken_and_options_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    with exporter(tmp_path, library=False) as serves:
        place = serves.url.removeprefix("http://").removesuffix("/metrics")
        taken = davylamp("exporter", "--listen", place)
    assert (taken.exit_code, "change --listen" in taken.stderr) == (2, True)
    for options, words in (
        (("--listen", "18152"), "not HOST:PORT"),
        (("--interval", "never"), "not a duration"),
        (("--interval", "2"), "--interval: "),
        (("--tp-size", "0", "--bytes-per-token", "1"), "--tp-size: "),
        (("--node", "ftp://host"), "--node: not an http"),
        (("--node", "127.0.0.1:30000"), "(write http://127.0.0.1:30000)"),
        (("--dcgm", "foo"), "--dcgm: not an http"),
        (("--dcgm", "foo"), "(write http://127.0.0.1:9400/metrics)"),
        (("--node", "http://node-1:30000", "--node-token-env", "HOME"), "token in clear"),
        (("--dcgm", "http://node-1:9400/metrics", "--token-env", "HOME"), "token in clear"),
    ):
        refused = davylamp("exporter", *options)
        assert (refused.exit_code, words in refused.stderr) == (2, True), refused.stderr
        assert "gpus." not in refused.stderr


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_a_file_that_is_no_model_is_refused_by_its_name(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "model.json"
    if text is not None:
        file.write_text(text, "utf-8")
    refused = davylamp("exporter", "--listen", "127.0.0.1:0", "--model-config", str(file))
    assert refused.exit_code == 2
    assert f"--model-config: {file}: " in refused.stderr


def test_a_model_of_no_known_kind_is_told_in_the_log(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text('{"model_type": "unheard"}', "utf-8")
    with exporter(tmp_path, "--model-config", str(file), library=False) as serves:
        said = serves.log.read_text("utf-8")
    assert f"--model-config: {file}: no formula is known for this model_type" in said


def test_a_node_that_refuses_the_token_or_does_not_answer_is_told_in_the_log(
    tmp_path: Path,
) -> None:
    node = engine()
    node.token = PLANTED
    gone = "http://127.0.0.1:9"
    with serving(node), exporter(tmp_path, "--node", node.url, "--node", gone) as serves:
        name = node.url.removeprefix("http://")
        at = httpx.get(serves.url, trust_env=False).text
        said = serves.log.read_text("utf-8")
        assert f'node="{name}"' in at
    lines = [line for line in said.splitlines() if f"node {name}: " in line]
    assert len(lines) == 1
    assert "HTTP 401" in lines[0]
    assert lines[0].endswith("(give --node-token-env)")
    assert "node 127.0.0.1:9: " in said
    assert PLANTED not in said


def test_an_address_that_is_all_of_them_is_said_to_be(tmp_path: Path) -> None:
    there = nvml.none(tmp_path)
    command = ["env", f"LD_LIBRARY_PATH={there}", COMMAND, "exporter", "--listen", "0.0.0.0:0"]
    with process(command, stderr=tmp_path / "log") as started:
        line = first_line(started)
    assert line.startswith("serving http://127.0.0.1:")
    assert line.rstrip().endswith("/metrics and at every other address of this machine")


def test_the_daemon_reads_gpus_and_joins_them_with_its_nodes(tmp_path: Path) -> None:
    dcgm = NodeServer({"GET /metrics": Page(body=PAGE.encode(), kind="text/plain")})
    node = engine()
    (tmp_path / "config.json").write_text(json.dumps(QWEN3_235B), "utf-8")
    with serving(dcgm, node), lab() as endpoint:
        nodes = [{"name": "a", "url": node.url}]
        installation = idle(install(tmp_path, endpoint, nodes=nodes))
        installation.settings["nodes"] = {"interval": "1s"}
        installation.settings["gpus"] = {
            "source": "dcgm",
            "interval": "1s",
            "dcgm_url": f"{dcgm.url}/metrics",
            "pools": [{"target": TARGET, "model_config": "config.json", "gpus": [0]}],
        }
        with daemon(installation.write()) as running:
            of = {"target": TARGET, "node": "a", "state": "used"}
            wait_until(
                lambda: running.count("davylamp_kv_pool_bytes", **of) == USED * BYTES,
                SECONDS,
                "a pool in bytes",
            )
            assert running.samples("davylamp_kv_pool_unattributed") == []
            assert running.count("davylamp_gpu_up", gpu="0") == 1
            assert running.count("davylamp_gpu_memory_used_bytes", gpu="0") == 61_000 * 1024**2
            # What DCGM held before we began is no event of ours.
            assert running.count("davylamp_gpu_xid_events_total", gpu="0", code="79") == 0
