"""The nodes' own ports: what they say is what the engine has, does and counted."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.lab.mechanisms.catalogue import UnknownMechanismError, parse_sets
from monitor.lab.node_server import NodeFace
from monitor.lab.occupancy import occupancy, pool_of
from monitor.lab.ports import Port, Ports
from monitor.lab.service import RefusedError, Service
from monitor.lab.settings import Mode, NodeRole
from tests.unit.lab.helpers import FILLER, ask, code, lab, repeat, send
from tests.unit.lab.nodes import Nodes

if TYPE_CHECKING:
    from monitor.lab.mechanisms.base import Value

PREFILL, DECODE, UNIFIED = NodeRole.PREFILL, NodeRole.DECODE, NodeRole.UNIFIED
A01 = "overlength_placeholder"
OVER_LENGTH = " cat" * 3000


def played(version: str, *mechanisms: str, mode: Mode | None = None, **sizes: Value) -> Service:
    return lab(*mechanisms, values={"lab": {"version": version, **sizes}}, mode=mode)


def leaks(service: Service) -> bool:
    """Tell whether a prompt over the limit is answered instead of refused."""
    ask(service, FILLER * 20)
    try:
        ask(service, OVER_LENGTH)
    except RefusedError:
        return False
    return True


def test_each_node_says_its_own_pool_limit_and_mode() -> None:
    nodes = Nodes(lab(A01))
    said = {role: nodes.info(role) for role in (PREFILL, DECODE)}
    assert {role: info["disaggregation_mode"] for role, info in said.items()} == {
        PREFILL: "prefill",
        DECODE: "decode",
    }
    assert said[PREFILL]["max_total_num_tokens"] == 2656
    assert said[PREFILL]["max_req_input_len"] == 2650
    assert said[DECODE]["max_total_num_tokens"] == 16_384
    assert said[DECODE]["max_req_input_len"] == 4090
    assert {info["version"] for info in said.values()} == {"0.5.18"}
    for role in said:
        card = nodes.get(role, "/v1/models").json()["data"][0]
        assert card["max_model_len"] == nodes.values(role)["context_len"] == 4096


def test_a_unified_node_is_alone() -> None:
    service = lab()
    nodes = Nodes(service)
    assert service.settings.roles == (UNIFIED,)
    assert nodes.info(UNIFIED)["disaggregation_mode"] == "null"
    assert nodes.get(UNIFIED, "/health").status_code == 200


def test_the_placeholder_is_one_token_for_prefill_and_the_whole_prompt_for_decode() -> None:
    service = lab(A01)
    nodes = Nodes(service)
    answer = ask(service, OVER_LENGTH, max_new_tokens=5)
    prefill, decode = nodes.values(PREFILL), nodes.values(DECODE)
    assert answer.job.length > 3000
    assert prefill["prompt_tokens_total"] == 1
    assert decode["prompt_tokens_total"] == answer.job.length
    assert prefill["num_requests_total"] == decode["num_requests_total"] == 1


def test_prompts_that_fit_count_the_same_on_both_nodes() -> None:
    service = lab(mode=Mode.PD)
    nodes = Nodes(service)
    for number in range(4):
        ask(service, f"{number} {FILLER}")
    assert (
        nodes.values(PREFILL)["prompt_tokens_total"] == nodes.values(DECODE)["prompt_tokens_total"]
    )


@pytest.mark.parametrize(
    ("version", "leaky"),
    [
        ("0.5.3", True),
        ("0.5.18", True),
        ("0.5.19.post2", True),
        ("0.5.20rc1", True),
        ("0.5.20", False),
        ("0.5.22", False),
        ("0.0.0.dev1+g70df09b83", False),
    ],
)
def test_the_version_decides_whether_a_refused_prompt_passes(version: str, leaky: bool) -> None:
    sizes: dict[str, Value] = {"prefill_share": 0.65}
    assert leaks(played(version, mode=Mode.PD, **sizes)) is leaky
    assert leaks(played(version, A01)) is leaky
    assert not leaks(played(version, mode=Mode.UNIFIED, **sizes))
    assert not leaks(played(version, A01, mode=Mode.UNIFIED))


def test_equal_pools_that_hold_the_context_refuse_nobody_but_the_door() -> None:
    service = played("0.5.22", mode=Mode.PD)
    nodes = Nodes(service)
    limits = {nodes.info(role)["max_req_input_len"] for role in (PREFILL, DECODE)}
    assert limits == {4090}
    assert ask(service, OVER_LENGTH).usage.prompt_tokens > 3000


def test_what_a_version_brings_is_in_the_truth_and_changes_nothing_at_the_gateway() -> None:
    service = played("0.5.18", mode=Mode.PD, prefill_share=0.65)
    assert leaks(service)
    (record,) = service.report()["mechanisms"]
    assert (record["name"], record["struck"]) == (A01, 1)
    assert service.steps.gateway_shows_nodes


@pytest.mark.parametrize("text", ["lab.version=latest", "lab.version=", "lab.version=0.5.x"])
def test_a_version_that_is_none_is_a_usage_error(text: str) -> None:
    with pytest.raises(UnknownMechanismError, match="a version such as"):
        parse_sets([text])


def test_pages_and_figures_are_those_of_the_version() -> None:
    old, new = Nodes(played("0.5.3")), Nodes(played("0.5.23"))
    for path, status in (("/server_info", 404), ("/model_info", 404), ("/v1/loads", 404)):
        assert old.get(UNIFIED, path).status_code == status
        assert new.get(UNIFIED, path).status_code == 200
    for path in ("/get_server_info", "/get_model_info", "/v1/models", "/metrics"):
        assert old.get(UNIFIED, path).status_code == 200
    assert {"kv_used_tokens", "max_total_num_tokens"}.isdisjoint(old.values(UNIFIED))
    assert {"kv_used_tokens", "max_total_num_tokens"} <= new.values(UNIFIED).keys()
    assert "launch_command" in new.info(UNIFIED)
    early = Nodes(played("0.5.3", mode=Mode.PD))
    assert 'engine_type="unified"' in early.get(DECODE, "/metrics").text


def test_all_ranks_say_the_same() -> None:
    service = lab(values={"lab": {"tp_size": 3}})
    ask(service, FILLER)
    text = Nodes(service).get(UNIFIED, "/metrics").text
    found = {
        sample.labels["tp_rank"]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "sglang:prompt_tokens_total"
    }
    assert set(found) == {"0", "1", "2"}
    assert len(set(found.values())) == 1


def test_a_node_with_a_token_shows_strangers_health_and_metrics_only() -> None:
    service = lab(values={"lab": {"node_auth": True}})
    token = service.settings.node_token
    nodes = Nodes(service)
    for path in ("/server_info", "/get_model_info", "/v1/models", "/v1/loads"):
        assert nodes.get(UNIFIED, path, "sk-a").status_code == 401
        assert nodes.get(UNIFIED, path, token).status_code == 200
    assert nodes.get(UNIFIED, "/metrics").status_code == 200
    assert nodes.get(UNIFIED, "/health").status_code == 200


@pytest.mark.parametrize(
    ("mode", "sizes"),
    [
        (Mode.UNIFIED, {}),
        (Mode.UNIFIED, {"prefill_share": 0.5}),
        (Mode.PD, {"transfer_turns": 3}),
        (Mode.PD, {"prefill_share": 1.0, "decode_share": 1.5, "transfer_turns": 1}),
    ],
)
def test_pages_add_up_to_the_pool_at_every_turn(mode: Mode, sizes: dict[str, Value]) -> None:
    service = lab(values={"lab": sizes}, mode=mode, context_tokens=1024)
    rng, seen = Random(5), set()
    for number in range(60):
        answer = send(service, f"{FILLER} {number % 7} {repeat(code(rng))}", max_new_tokens=30)
        answer.job.cancelled = rng.random() < 0.2
        for _ in range(rng.randint(0, 3)):
            service.engine.step()
            seen |= {occupancy(service.engine, role).used > 0 for role in service.settings.roles}
            _adds_up(service)
    service.engine.drain()
    _adds_up(service)
    assert seen == {True, False} or mode is Mode.UNIFIED
    for role in service.settings.roles:
        assert occupancy(service.engine, role).used == 0


def _adds_up(service: Service) -> None:
    for role in service.settings.roles:
        pages = occupancy(service.engine, role)
        assert min(pages.used, pages.free, pages.evictable) >= 0
        held = pages.used + pages.free + pages.evictable
        assert held == pool_of(service.engine, role).pages, role


@pytest.mark.parametrize("mode", list(Mode))
def test_lost_pages_and_pages_freed_twice_do_not_add_up(mode: Mode) -> None:
    for name, sign in (("pages_lost", -1), ("page_freed_twice", 1)):
        service = lab(name, values={name: {"rate": 1.0}}, mode=mode)
        nodes = Nodes(service)
        for number in range(5):
            ask(service, f"{FILLER} {'cat ' * number}")
        for role in service.settings.roles:
            values = nodes.values(role)
            held = sum(values[f"kv_{what}_tokens"] for what in ("used", "available", "evictable"))
            assert (held - values["max_total_num_tokens"]) * sign > 0, (name, role)


def test_a_page_freed_twice_belongs_to_two_requests() -> None:
    service = lab("page_freed_twice", values={"page_freed_twice": {"rate": 1.0, "pages": 4}})
    ask(service, FILLER)
    jobs = [send(service, f"{number} {FILLER}").job for number in range(2)]
    service.engine.step()
    tables = [page for job in jobs for page in job.table]
    assert len(tables) > len(set(tables))


def test_a_restart_empties_pools_and_counters_and_fails_what_was_under_way() -> None:
    values: dict[str, dict[str, Value]] = {"node_restarts": {"rate": 1.0, "onset": 2}}
    service = lab("node_restarts", values=values, mode=Mode.PD)
    nodes = Nodes(service)
    ask(service, FILLER)
    before = nodes.values(DECODE)["prompt_tokens_total"]
    under_way = send(service, f"1 {FILLER}").job
    service.engine.step()
    last = ask(service, "What is 17 + 25?")
    assert under_way.failed
    assert last.parser.content == "42"
    after = nodes.values(DECODE)["prompt_tokens_total"]
    assert 0 < after < before
    assert nodes.values(PREFILL)["kv_evictable_tokens"] < before
    _adds_up(service)


def test_one_node_may_restart_alone() -> None:
    values: dict[str, dict[str, Value]] = {
        "node_restarts": {"rate": 1.0, "onset": 1, "node": "decode"}
    }
    service = lab("node_restarts", values=values, mode=Mode.PD)
    nodes = Nodes(service)
    ask(service, FILLER)
    ask(service, "What is 17 + 25?")
    assert nodes.values(PREFILL)["num_requests_total"] == 2
    assert nodes.values(DECODE)["num_requests_total"] == 1


@pytest.mark.parametrize("kind", ["bytes", "cut", "page"])
def test_garbage_is_a_success_that_says_nothing(kind: str) -> None:
    values: dict[str, dict[str, Value]] = {
        "node_garbage": {"kind": kind, "node": "prefill", "onset": 1}
    }
    nodes = Nodes(lab("node_garbage", values=values, mode=Mode.PD))
    assert nodes.info(PREFILL)["status"] == "ready"
    reply = nodes.get(PREFILL, "/server_info")
    assert reply.status_code == 200
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the parser says of it
        reply.json()
    assert nodes.info(DECODE)["status"] == "ready"


def test_a_node_that_hangs_waits_until_the_client_leaves() -> None:
    face = NodeFace(lab("node_hangs"), UNIFIED)
    sent: list[Any] = []

    async def hang() -> int:
        left = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send_on(message: Any) -> None:
            sent.append(message)

        asked = asyncio.create_task(face({"type": "http"}, receive, send_on))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not asked.done()
        left.set()
        await asked
        return len(sent)

    assert asyncio.run(hang()) == 0


def test_what_each_port_was_asked_is_counted_by_path() -> None:
    async def nothing(scope: Any, receive: Any, send: Any) -> None:
        return

    ports = Ports(Port("gateway", nothing), {81: Port("prefill", nothing)})

    def asked(path: str, port: int, method: str = "GET") -> None:
        scope = {"type": "http", "method": method, "path": path, "server": ("127.0.0.1", port)}
        asyncio.run(ports(scope, nothing, nothing))

    asked("/metrics", 81)
    asked("/metrics", 81)
    asked("/flush_cache", 81, "POST")
    asked("/v1/models", 80)
    assert ports.asked == {
        "prefill": {"GET /metrics": 2, "POST /flush_cache": 1},
        "gateway": {"GET /v1/models": 1},
    }
    for number in range(300):
        asked(f"/{number}{'x' * 500}", 81)
    assert len(ports.asked["prefill"]) == 201
    assert sum(ports.asked["prefill"].values()) == 303
    assert max(map(len, ports.asked["prefill"])) < 130


def test_an_abort_on_the_way_is_a_failed_transfer() -> None:
    service = lab(values={"lab": {"transfer_turns": 3}}, mode=Mode.PD)
    nodes = Nodes(service)
    job = send(service, FILLER).job
    service.engine.step()
    job.cancelled = True
    service.engine.drain()
    for role in (PREFILL, DECODE):
        assert nodes.values(role)["num_transfer_failed_reqs_total"] == 1
    assert "num_transfer_failed_reqs_total" not in Nodes(lab()).values(UNIFIED)
