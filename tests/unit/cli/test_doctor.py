"""The doctor against small servers: well, wrong in each way, and not to be told."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from pathlib import Path

import pytest

from monitor.cli.config_commands import Report
from monitor.cli.doctor import doctor
from monitor.cli.doctor_around import check_bodies, check_folder
from monitor.cli.doctor_line import Health, Surroundings
from monitor.cli.doctor_sql import check_readers
from monitor.cli.doctor_target import check_connection
from monitor.clock import SystemClock
from tests.fakes.node_pages import Pages, litellm, vllm
from tests.fakes.node_servers import NodeServer
from tests.fakes.node_servers import serving as serving_nodes
from tests.unit.cli.certificate import self_signed
from tests.unit.cli.small_server import Answer, Handler, serving
from tests.unit.config.known import load_text
from tests.unit.scoring.tiny_bert import save_tiny_bert
from tests.unit.store.body_keys import OPENER, PRIVATE, public_pem_of

KEYS = {
    "DONOR_A_KEY": "planted-key-a",
    "VICTIM_B_KEY": "planted-key-b",
    "NODE_TOKEN": "planted-node",
}
MODELS = json.dumps({"data": [{"id": "glm-5.3", "owned_by": "vllm", "max_model_len": 4096}]})


def healthy(path: str, headers: Mapping[str, str]) -> Answer:
    """A model server that looks at keys, with metrics behind a token."""
    sent = headers.get("authorization", "")
    if path == "/version":
        return Answer(200, '{"version": "0.33.0"}')
    if path == "/v1/models":
        good = sent.removeprefix("Bearer ") in KEYS.values()
        return Answer(200, MODELS) if good else Answer(401)
    if path == "/metrics":
        return Answer(200, "up 1\n") if sent == "Bearer planted-node" else Answer(403)
    return Answer(404)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# The port above the one that a test listens on may be anybody's.
NO_READERS = "storage: {sql: {enabled: false}}\n"


def text_for(port: int, listen: int) -> str:
    return f"""\
version: 1
listen: {{port: {listen}}}
{NO_READERS}\
targets:
  - name: glm
    engine: openai
    base_url: http://127.0.0.1:{port}/v1
    model: glm-5.3
    tenants:
      - {{name: donor-a, api_key_env: DONOR_A_KEY}}
      - {{name: victim-b, api_key_env: VICTIM_B_KEY}}
    nodes: [{{url: "http://127.0.0.1:{port}", token_env: NODE_TOKEN}}]
"""


def around(folder: Path, text: str, environ: Mapping[str, str]) -> Surroundings:
    config = load_text(folder, text)
    return Surroundings(config=config, clock=SystemClock(), environ=environ, timeout_seconds=2.0)


def ask(
    folder: Path,
    handler: Handler = healthy,
    environ: Mapping[str, str] = KEYS,
    changes: Mapping[str, str] = {},
) -> Report:
    async def run() -> Report:
        async with serving(handler) as port:
            text = text_for(port, free_port())
            for old, new in changes.items():
                text = text.replace(old, new)
            return await doctor(around(folder, text, environ))

    return asyncio.run(run())


def line(report: Report, what: str) -> str:
    """Return the line on ``what`` with its remedy."""
    rows = report.text.splitlines()
    start = next(
        i for i, row in enumerate(rows) if row.split(maxsplit=1)[-1].startswith(f"{what}:")
    )
    return " ".join(row.strip() for row in rows[start : start + 2])


def test_all_is_well_but_the_daemon_is_not_running(tmp_path: Path) -> None:
    report = ask(tmp_path)
    assert "fail" not in report.text
    assert line(report, "glm key of donor-a").startswith("ok       glm key of donor-a: accepted")
    assert "glm node 127.0.0.1:" in report.text
    assert "no page shows an engine" not in report.text
    assert "the daemon is not running" in line(report, "metrics")
    assert report.exit_code == 3
    assert not any(key in report.text for key in KEYS.values())


def test_checks_that_see_are_one_line(tmp_path: Path) -> None:
    assert line(ask(tmp_path), "checks").startswith("ok       checks: all ")


def test_a_model_that_cannot_be_loaded_is_a_blind_check(tmp_path: Path) -> None:
    folder = save_tiny_bert(tmp_path / "tiny")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    topic = f"checks: {{topic: {{model: {folder}, backend: onnx}}}}\ntargets:"
    report = ask(tmp_path, changes={"targets:": topic})
    assert line(report, "check TOPIC").startswith("fail     check TOPIC: blind: ")
    assert "model.safetensors cannot be read" in line(report, "check TOPIC")
    assert "do: mend its section under checks" in line(report, "check TOPIC")
    assert "see what they must" not in report.text
    assert report.exit_code == 1


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    report = ask(tmp_path, environ={k: v for k, v in KEYS.items() if k != "VICTIM_B_KEY"})
    found = line(report, "glm key of victim-b")
    assert found.startswith("fail")
    assert "environment variable VICTIM_B_KEY is not set" in found
    assert line(report, "glm tenants").startswith("unknown")
    assert report.exit_code == 1


def test_a_refused_key(tmp_path: Path) -> None:
    report = ask(tmp_path, environ={**KEYS, "DONOR_A_KEY": "planted-wrong"})
    assert "refused with 401 do: put a valid key into $DONOR_A_KEY" in line(
        report, "glm key of donor-a"
    )
    assert report.exit_code == 1


def test_the_same_key_twice(tmp_path: Path) -> None:
    report = ask(tmp_path, environ={**KEYS, "VICTIM_B_KEY": KEYS["DONOR_A_KEY"]})
    assert "donor-a and victim-b have the same key" in line(report, "glm tenants")
    assert report.exit_code == 1


def test_a_models_list_open_to_everybody_tells_nothing_of_the_key(tmp_path: Path) -> None:
    report = ask(tmp_path, lambda path, _: Answer(200, MODELS))
    assert line(report, "glm key of donor-a").startswith("unknown")


def test_an_open_server_is_fine_and_warned_of(tmp_path: Path) -> None:
    changes = {", api_key_env: DONOR_A_KEY": "", ", api_key_env: VICTIM_B_KEY": ""}
    report = ask(tmp_path, lambda path, _: Answer(200, MODELS), changes=changes)
    assert line(report, "glm key of donor-a").startswith("ok")
    assert line(report, "glm tenants").startswith("warn")


def test_a_model_that_is_not_listed(tmp_path: Path) -> None:
    report = ask(tmp_path, changes={"model: glm-5.3": "model: glm-6"})
    assert "'glm-6' is not among the 1 models listed" in line(report, "glm key of donor-a")


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"data": 3}', '{"data": [3]}', "[" * 9_000])
def test_a_strange_models_list_is_unknown(tmp_path: Path, body: str) -> None:
    def strange(path: str, headers: Mapping[str, str]) -> Answer:
        answer = healthy(path, headers)
        return replace(answer, body=body) if answer.status == 200 and "models" in path else answer

    assert line(ask(tmp_path, strange), "glm key of donor-a").startswith("unknown")


def test_a_clock_that_is_off(tmp_path: Path) -> None:
    late = formatdate(datetime.now(UTC).timestamp() - 60, usegmt=True)
    report = ask(tmp_path, lambda path, headers: replace(healthy(path, headers), date=late))
    assert "s ahead of the target" in line(report, "glm clock")
    assert line(report, "glm clock").startswith("warn")


@pytest.mark.parametrize("date", [None, "yesterday", "Thu, 99 Jan 9999 99:99:99 GMT"])
def test_a_clock_that_cannot_be_read(tmp_path: Path, date: str | None) -> None:
    report = ask(tmp_path, lambda path, headers: replace(healthy(path, headers), date=date))
    assert line(report, "glm clock").startswith("unknown")


def test_a_node_that_refuses_and_one_that_is_away(tmp_path: Path) -> None:
    report = ask(tmp_path, environ={**KEYS, "NODE_TOKEN": "planted-wrong"})
    assert "refused with 401 do: check token_env or token_file" in report.text.replace(
        "\n        ", ""
    )
    away = ask(
        tmp_path, changes={'url: "http://127.0.0.1': f'url: "http://127.0.0.1:{free_port()}/x'}
    )
    assert away.exit_code == 1


def test_a_host_without_an_address(tmp_path: Path) -> None:
    report = ask(
        tmp_path, changes={"base_url: http://127.0.0.1": "base_url: http://nowhere.invalid"}
    )
    assert "nowhere.invalid has no address" in line(report, "glm name")
    assert report.exit_code == 1


def test_nobody_listens(tmp_path: Path) -> None:
    text = text_for(free_port(), free_port())
    report = asyncio.run(doctor(around(tmp_path, text, KEYS)))
    assert line(report, "glm connection").startswith("fail")
    assert report.exit_code == 1


def test_our_own_daemon_is_recognised_and_a_stranger_is_not(tmp_path: Path) -> None:
    async def run(body: str) -> Report:
        async with serving(healthy) as port, serving(lambda _p, _h: Answer(200, body)) as listen:
            return await doctor(around(tmp_path, text_for(port, listen), KEYS))

    ours = asyncio.run(run("# HELP x\ndavylamp_build_info 1\ndavylamp_exchanges_total 0\n"))
    assert "held by a running davylamp" in line(ours, "listen")
    assert "2 series" in line(ours, "metrics")
    assert ours.exit_code == 0
    stranger = asyncio.run(run("up 1\n"))
    assert "taken by another program" in line(stranger, "listen")
    assert stranger.exit_code == 1


@pytest.mark.parametrize(
    ("answer", "health", "words"),
    [
        (Answer(200, "1\n"), "ok", "answers as davylamp"),
        (Answer(403, "Authentication failed"), "fail", "refuses the user or password"),
        (Answer(404, "no such database"), "fail", "answers 404 to SELECT 1"),
    ],
)
def test_clickhouse(tmp_path: Path, answer: Answer, health: str, words: str) -> None:
    seen: list[tuple[str, str]] = []

    def clickhouse(path: str, headers: Mapping[str, str]) -> Answer:
        seen.append((path, headers.get("x-clickhouse-key", "")))
        return answer

    async def run() -> Report:
        async with serving(healthy) as port, serving(clickhouse) as db:
            storage = (
                f'storage: {{url: "clickhouse://davylamp@127.0.0.1:{db}/x", password_env: DB}}\n'
            )
            text = text_for(port, free_port()).replace(NO_READERS, storage)
            return await doctor(around(tmp_path, text, {**KEYS, "DB": "planted-db"}))

    report = asyncio.run(run())
    assert line(report, "clickhouse").startswith(health)
    assert words in line(report, "clickhouse")
    assert seen == [("/?query=SELECT+1&database=x", "planted-db")]
    assert "planted-db" not in report.text


def test_a_folder_in_the_way_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "davylamp-data").write_text("in the way", encoding="utf-8")
    found = check_folder(around(tmp_path, text_for(1, 2), KEYS))
    assert found.health is Health.FAIL
    assert "is not a folder" in found.said


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    # Not even root may make files there.
    (tmp_path / "davylamp-data").symlink_to("/proc/self/task")
    found = check_folder(around(tmp_path, text_for(1, 2), KEYS))
    assert found.health is Health.FAIL
    assert "cannot be written" in found.said


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    surroundings = around(tmp_path, text_for(1, 2), KEYS)
    before = set(tmp_path.iterdir())
    assert check_folder(surroundings).health is Health.OK
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("days", "trusted", "health"),
    [
        (90, True, Health.OK),
        (3, True, Health.WARN),
        (-1, True, Health.FAIL),
        (90, False, Health.FAIL),
    ],
)
def test_certificates(tmp_path: Path, days: int, trusted: bool, health: Health) -> None:
    files = self_signed(tmp_path, timedelta(days=days))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*files)
    client = ssl.create_default_context(cafile=str(files[0]) if trusted else None)

    async def run() -> Health:
        async with serving(healthy, server) as port:
            text = text_for(port, 1).replace("http://127.0.0.1", "https://localhost", 1)
            surroundings = replace(around(tmp_path, text, KEYS), tls=client)
            found = await check_connection(surroundings, surroundings.config.targets[0])
            return found.health

    assert asyncio.run(run()) is health


def test_a_port_without_tls(tmp_path: Path) -> None:
    async def run() -> str:
        async with serving(healthy) as port:
            text = text_for(port, 1).replace("http://", "https://", 1)
            surroundings = around(tmp_path, text, KEYS)
            return (await check_connection(surroundings, surroundings.config.targets[0])).health

    assert asyncio.run(run()) == "fail"


def test_a_folder_that_is_there_and_named_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = around(Path(), text_for(1, 2), KEYS)
    assert "can be made" in check_folder(here).said
    Path("davylamp-data").mkdir()
    assert check_folder(here).said == "davylamp-data can be written"


def ask_readers(folder: Path, sql: str, answer: Answer | None = None) -> list[str]:
    """Return what the doctor says of readers, with a server of ``answer`` on their port, if any."""
    seen: list[str] = []

    def server(path: str, headers: Mapping[str, str]) -> Answer:
        seen.append(headers.get("x-clickhouse-key", ""))
        return answer or Answer(404)

    async def run() -> list[str]:
        async with serving(server) as taken:
            port = taken if answer else free_port()
            storage = f"storage: {{path: {folder}, sql: {{port: {port}{sql}}}}}\n"
            text = text_for(9, 9).replace(NO_READERS, storage)
            return [str(line) async for line in check_readers(around(folder, text, {"PW": "pw"}))]

    lines = asyncio.run(run())
    assert all(key in ("", "pw", "own") for key in seen)
    assert "pw" not in "".join(lines)
    return lines


def test_readers_port_that_is_free(tmp_path: Path) -> None:
    (line,) = ask_readers(tmp_path, "")
    assert line.startswith("ok       readers' SQL: 127.0.0.1:")
    assert line.endswith(" is free")
    assert not (tmp_path / "sql.token").exists()
    assert not ask_readers(tmp_path, ", enabled: false")


def test_readers_port_that_we_hold_or_somebody_else(tmp_path: Path) -> None:
    (line,) = ask_readers(tmp_path, ", token_env: PW", Answer(200, "1\n"))
    assert line.endswith("answers user davylamp")
    (tmp_path / "sql.token").write_text("own")
    (line,) = ask_readers(tmp_path, "", Answer(200, "1\n"))
    assert line.endswith("answers user davylamp")
    for other in (Answer(403), Answer(200, "hello")):
        (line,) = ask_readers(tmp_path, "", other)
        assert "is taken, and does not answer as this installation" in line
        assert "change storage.sql.host or storage.sql.port" in line


def test_readers_that_cannot_be_served(tmp_path: Path) -> None:
    (line,) = ask_readers(tmp_path, ", token_env: MISSING")
    assert "MISSING is not set" in line
    (line,) = ask_readers(tmp_path, ", host: 192.0.2.1")
    assert line.startswith("fail     readers' SQL: 192.0.2.1: ")


@pytest.mark.parametrize(
    ("keep", "which"), [("all", "all texts"), ("not_good", "texts of what is not good")]
)
def test_that_texts_are_kept_is_said_with_the_key_they_are_sealed_to(
    tmp_path: Path, keep: str, which: str
) -> None:
    (tmp_path / "public.pem").write_bytes(public_pem_of(PRIVATE))
    bodies = f"storage: {{bodies: {{public_key_file: public.pem, keep: {keep}}}}}\n"
    text = text_for(9, 9).replace(NO_READERS, bodies)
    (line,) = check_bodies(around(tmp_path, text, KEYS))
    assert line.health is Health.OK
    assert line.said == f"{which} are kept for 7 d, sealed to key {OPENER.key_id}"
    assert not list(check_bodies(around(tmp_path, text_for(9, 9), KEYS)))


OTHER = "another-token"
NODES_ONLY = "version: 1\n" + NO_READERS + "targets:\n  - name: glm\n"


def of_nodes(folder: Path, text: str, *nodes: NodeServer) -> Report:
    """Return what the doctor says of a target that is there for its nodes only."""
    with serving_nodes(*nodes) as urls:
        for place, url in enumerate(urls):
            text = text.replace(f"NODE{place}", url)
        return asyncio.run(doctor(around(folder, NODES_ONLY + text, KEYS)))


def test_a_node_whose_engine_is_known_is_told(tmp_path: Path) -> None:
    report = of_nodes(tmp_path, "    nodes: [{name: a, url: 'NODE0'}]\n", NodeServer(vllm()))
    assert "glm node a: vllm 0.33.0, unified" in report.text


def test_a_node_that_is_no_engine_we_can_read_is_not_told(tmp_path: Path) -> None:
    report = of_nodes(tmp_path, "    nodes: [{name: a, url: 'NODE0'}]\n", NodeServer({}))
    found = line(report, "glm node a")
    assert found.startswith("unknown  glm node a: reachable, but no page shows an engine")
    assert "do: set engine" in found
    assert "docs/nodes-facts.md" in found


def test_a_node_wants_another_token_is_told(tmp_path: Path) -> None:
    text = "    nodes: [{name: a, url: 'NODE0', token_env: NODE_TOKEN}]\n"
    report = of_nodes(tmp_path, text, NodeServer(vllm(), token=OTHER))
    assert "glm node a: refused with 401" in line(report, "glm node a")
    assert "planted-node" not in report.text


def test_a_node_that_shows_its_metrics_alone_and_wants_a_token_is_told(tmp_path: Path) -> None:
    pages = {path: replace(page, status=401) for path, page in vllm().items()}
    pages["GET /metrics"] = vllm()["GET /metrics"]
    report = of_nodes(tmp_path, "    nodes: [{name: a, url: 'NODE0'}]\n", NodeServer(pages))
    found = line(report, "glm node a")
    assert found.startswith("fail")
    assert "HTTP 401" in found
    assert "do: check token_env or token_file" in found


def test_a_node_that_was_found_outside_the_ranges_names_the_remedy(tmp_path: Path) -> None:
    text = "    node_sources: [{file_sd: n.json}]\nnodes: {addresses: [10.0.0.0/8]}\n"
    (tmp_path / "n.json").write_text('[{"targets": ["127.0.0.1:9"]}]', "utf-8")
    found = line(of_nodes(tmp_path, text), "glm node 127.0.0.1:9")
    assert found.startswith("fail")
    assert "do: add its range to nodes.addresses" in found


def test_a_source_of_nodes_that_gives_none_fails(tmp_path: Path) -> None:
    text = "    node_sources: [{file_sd: n.json}]\nnodes: {addresses: [10.0.0.0/8]}\n"
    found = line(of_nodes(tmp_path, text), "glm nodes of file_sd n.json")
    assert found.startswith("fail     glm nodes of file_sd n.json: no such file")


def test_a_token_of_nodes_that_is_not_there_is_named(tmp_path: Path) -> None:
    text = "    nodes: [{name: a, url: 'http://127.0.0.1:9', token_env: NO_SUCH}]\n"
    found = line(of_nodes(tmp_path, text), "glm node a")
    assert "environment variable NO_SUCH is not set" in found


def test_of_many_nodes_only_those_that_need_something_have_a_line(tmp_path: Path) -> None:
    text = "    node_sources: [{file_sd: n.json}]\nnodes: {addresses: [10.0.0.0/8]}\n"
    targets = json.dumps([{"targets": [f"127.0.0.1:{port}" for port in range(1, 31)]}])
    (tmp_path / "n.json").write_text(targets, "utf-8")
    report = of_nodes(tmp_path, text)
    assert "glm nodes: 0 of 30 are reachable and known" in report.text
    assert "glm nodes: 10 more of them need something" in report.text


def test_a_gateway_lists_its_models_or_says_why_not(tmp_path: Path) -> None:
    text = "    gateway: {engine: litellm, url: 'NODE0'}\n"
    report = of_nodes(tmp_path, text, NodeServer(litellm("a", "b")))
    assert "ok       glm gateway: lists 2 models" in report.text
    report = of_nodes(tmp_path, text, NodeServer({}))
    assert line(report, "glm gateway").startswith("fail     glm gateway: its models: HTTP 404")


def test_a_gateway_whose_nodes_are_not_told_is_not_well(tmp_path: Path) -> None:
    text = "    gateway: {engine: litellm, url: 'NODE0'}\n"
    rows = of_nodes(tmp_path, text, NodeServer(litellm("a"))).text
    assert "unknown  glm gateway: the nodes behind it are not told" in rows
    assert "do: name them in nodes or node_sources of the target" in rows


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        (litellm("glm-air"), "the target's model is not among those it lists"),
        (litellm("glm", most=-1), "the context it states for the target's model is no number"),
        (litellm("glm"), ""),
        (litellm("glm", most=None), ""),
    ],
)
def test_a_promise_that_could_not_be_told_is_a_line_of_the_gateway(
    tmp_path: Path, pages: Pages, why: str
) -> None:
    text = "    nodes: [{name: a, url: 'NODE0'}]\n    gateway: {engine: litellm, url: 'NODE1'}\n"
    report = of_nodes(tmp_path, text, NodeServer(vllm()), NodeServer(pages))
    assert "ok       glm gateway: lists 1 models" in report.text
    said = "unknown  glm gateway: what it promises could not be told: "
    assert (said + why in report.text) == bool(why)
    assert (said in report.text) == bool(why)
    assert ("do: let it list the model by the name" in report.text) == bool(why)


def test_a_list_of_models_that_is_not_whole_is_not_told(tmp_path: Path) -> None:
    text = "    gateway: {engine: litellm, url: 'NODE0'}\n"
    found = line(of_nodes(tmp_path, text, NodeServer(litellm("a", " b "))), "glm gateway")
    assert found.startswith("unknown  glm gateway: what it serves is not wholly known: 1 without")
