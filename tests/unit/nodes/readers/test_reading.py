"""Reading many nodes: what is asked, who gets the credential, and who waits for whom."""

from __future__ import annotations

import asyncio
import logging
import selectors
import socket
from dataclasses import replace
from typing import Any

import httpx
import pytest
import yaml

from monitor.clock import SystemClock
from monitor.http import HttpClient, origin_of
from monitor.nodes.pages import DESCRIPTION, PAGE_BYTES, READABLE, NodePages
from monitor.nodes.readers import NODE_ENGINES
from monitor.nodes.reading import NodeAddress, read_nodes
from monitor.nodes.record import Gap, NodeSnapshot, Role
from tests.architecture.source import ROOT
from tests.unit.nodes.readers.serving import (
    CREDENTIAL,
    URL,
    Node,
    StillClock,
    gaps_of,
    read,
    read_with,
    why,
)
from tests.unit.nodes.readers.shapes import POOL, info, listing, sglang_metrics

SGLANG: dict[str, Any] = {
    "/server_info": info(),
    "/v1/models": listing(),
    "/metrics": sglang_metrics(),
}
VLLM: dict[str, Any] = {"/version": {"version": "0.33.0"}, "/v1/models": listing(owner="vllm")}
LLAMA: dict[str, Any] = {
    "/props": {"default_generation_settings": {"n_ctx": 4_096}, "total_slots": 1},
    "/v1/models": {"data": [{"id": "lamp", "owned_by": "llamacpp"}]},
}
OLLAMA: dict[str, Any] = {
    "/api/version": {"version": "0.32.5"},
    "/api/ps": {"models": [{"name": "lamp", "context_length": 4_096}]},
}
ALL = {"sglang": SGLANG, "vllm": VLLM, "llama.cpp": LLAMA, "ollama": OLLAMA}
ADDRESS = NodeAddress(node="a", target="t", url=URL, credential=CREDENTIAL)
OTHER = "another-nodes-key-4410"


@pytest.mark.parametrize("engine", ALL)
@pytest.mark.parametrize("url", [URL, f"{URL}/", f"{URL}/v1"])
def test_an_engine_is_known_by_its_pages(engine: str, url: str) -> None:
    snapshot = read_with(Node(ALL[engine]), replace(ADDRESS, url=url))
    assert (snapshot.reached, snapshot.facts.engine) == (True, engine)


@pytest.mark.parametrize(
    "pages", [{}, {"/v1/models": listing(owner="somebody")}, {"/metrics": "up 1\n"}]
)
def test_an_engine_nobody_knows_is_one_gap(pages: dict[str, Any]) -> None:
    snapshot = read(pages)
    assert snapshot.reached
    assert snapshot.gaps == (Gap(fact="engine", why="no page shows an engine that can be read"),)
    assert snapshot.facts.engine is None


@pytest.mark.parametrize("engine", [*NODE_ENGINES, None])
@pytest.mark.parametrize("pages", [{}, SGLANG, VLLM, LLAMA, OLLAMA])
def test_nothing_is_asked_that_could_change_a_node(engine: str | None, pages: Any) -> None:
    node = Node(pages)
    read_with(node, replace(ADDRESS, engine=engine))
    assert node.asked
    for request in node.asked:
        assert request.url.query == b""
        if request.method == "POST":
            assert request.url.path == DESCRIPTION
        else:
            assert (request.method, request.content) == ("GET", b"")
            assert request.url.path in READABLE


def test_no_page_that_may_be_asked_for_generates_or_administers() -> None:
    words = ("health", "generate", "flush", "abort", "set", "role", "slots", "completion", "chat")
    assert not [path for path in READABLE if any(word in path for word in words)]


def test_no_page_is_fetched_twice() -> None:
    for pages in ALL.values():
        node = Node(pages)
        read_with(node, ADDRESS)
        fetched = [request.url.path for request in node.asked]
        assert len(fetched) == len(set(fetched))


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectError("secret-of-the-network"),
        httpx.ReadTimeout("secret-of-the-network"),
        httpx.RemoteProtocolError("secret-of-the-network"),
    ],
)
def test_a_node_that_does_not_answer_has_no_facts_and_one_gap(error: Exception) -> None:
    snapshot = read(dict.fromkeys(READABLE, error), role=Role.DECODE)
    assert (snapshot.reached, snapshot.role, snapshot.facts.engine) == (False, Role.DECODE, None)
    assert [gap.fact for gap in snapshot.gaps] == ["node"]
    assert "secret-of-the-network" not in repr(snapshot)


@pytest.mark.parametrize("url", ["", "ftp://x", "http://me:pw@node.test", "node.test:30000"])
def test_a_url_that_nobody_should_go_to_is_a_gap(url: str) -> None:
    node = Node({})
    snapshot = read_with(node, replace(ADDRESS, url=url))
    assert not snapshot.reached
    assert "not an http or https URL" in why(snapshot, "node")
    assert "pw" not in repr(snapshot)
    assert node.asked == []


@pytest.mark.parametrize("url", [f"{URL}/?token=hush", f"{URL}#hush"])
def test_a_url_with_a_query_is_no_base_of_pages(url: str) -> None:
    node = Node(SGLANG)
    snapshot = read_with(node, replace(ADDRESS, url=url))
    assert "has a query" in why(snapshot, "node")
    assert node.asked == []
    assert "hush" not in repr(snapshot)


@pytest.mark.parametrize("status", [401, 403])
def test_a_node_that_refuses_the_credential_says_so(status: int) -> None:
    snapshot = read(dict.fromkeys(READABLE, status), engine="sglang")
    assert snapshot.reached
    assert "credential" in why(snapshot, "version")


@pytest.mark.parametrize("status", [204, 301, 302, 418, 500, 503])
def test_a_status_that_is_none_of_a_page_gives_no_fact(status: int) -> None:
    snapshot = read(dict.fromkeys(READABLE, status), engine="sglang")
    assert snapshot.facts.version is None
    assert {"version", "pool_tokens", "pool_bound", "role"} <= gaps_of(snapshot)


def test_a_port_where_nobody_listens_is_told_as_one() -> None:
    """Over a real connection; the port was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    reading = read_nodes([replace(ADDRESS, url=url)], clock=SystemClock())
    snapshot = asyncio.run(reading)[0]
    assert not snapshot.reached
    assert why(snapshot, "node") == "the connection was refused"


def test_a_page_that_no_reader_may_ask_for_is_not_asked_for() -> None:
    node = Node({})
    http = HttpClient(
        origins=frozenset({origin_of(URL)}), clock=StillClock(), transport=node.transport()
    )
    pages = NodePages(
        http, url=URL, metrics_url=None, credential=None, clock=StillClock(), deadline_seconds=1
    )
    with pytest.raises(ValueError, match="no page that a reader may ask for"):
        asyncio.run(pages.page("/health_generate"))
    assert node.asked == []


def test_a_redirect_is_not_followed() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"Location": "http://elsewhere.test/"})

    reading = read_nodes([ADDRESS], clock=StillClock(), transport=httpx.MockTransport(answer))
    assert asyncio.run(reading)[0].facts.engine is None
    assert set(asked) == {"node.test"}


def test_a_page_over_its_size_gives_no_fact() -> None:
    huge = sglang_metrics() + "x 1\n" * (PAGE_BYTES // 4)
    snapshot = read(SGLANG | {"/metrics": huge})
    assert snapshot.live.kv.used_tokens is None
    assert f"over {PAGE_BYTES} bytes" in why(snapshot, "metrics")


@pytest.mark.parametrize(
    "page", ["", "[]", "null", "{", "[" * 10_000, b"\xff\xfe", '{"a":' * 5_000]
)
def test_a_page_that_is_no_json_gives_no_fact(page: Any) -> None:
    snapshot = read(dict.fromkeys(READABLE, page), engine="sglang")
    assert snapshot.facts.version is None
    assert "version" in gaps_of(snapshot)


def _carriers(node: Node) -> dict[str, set[str | None]]:
    carried: dict[str, set[str | None]] = {}
    for request in node.asked:
        carried.setdefault(request.url.host, set()).add(request.headers.get("authorization"))
    return carried


def test_the_credential_goes_to_the_nodes_own_origin_alone() -> None:
    node = Node(SGLANG)
    relay = "http://relay.test/metrics"
    snapshot = read_with(node, replace(ADDRESS, metrics_url=relay))
    assert _carriers(node) == {"node.test": {f"Bearer {CREDENTIAL}"}, "relay.test": {None}}
    assert snapshot.live.kv.used_tokens == 1_000
    assert snapshot.live.kv.capacity_tokens == POOL


def test_a_relay_does_not_answer_for_a_node_that_is_gone() -> None:
    gone = dict.fromkeys(READABLE, httpx.ConnectError("gone")) | {"/metrics": sglang_metrics()}
    snapshot = read_with(Node(gone), replace(ADDRESS, metrics_url="http://relay.test/metrics"))
    assert not snapshot.reached
    assert gaps_of(snapshot) == {"node"}
    assert snapshot.live.kv.used_tokens is None


def test_metrics_elsewhere_on_the_nodes_origin_get_the_credential() -> None:
    node = Node(SGLANG | {"/metrics": 404, "/relay/7": sglang_metrics()})
    snapshot = read_with(node, replace(ADDRESS, metrics_url=f"{URL}/relay/7"))
    assert _carriers(node) == {"node.test": {f"Bearer {CREDENTIAL}"}}
    assert snapshot.live.kv.used_tokens == 1_000


def test_a_node_without_a_credential_gets_none() -> None:
    node = Node(SGLANG)
    read_with(node, replace(ADDRESS, credential=None))
    assert _carriers(node) == {"node.test": {None}}


_SECRETS = ("sk-proj-" + "Ab1" * 16, "hf_" + "Ab1" * 11 + "x", "AKIA" + "QWZXCVBN2345ASDF")


def _planted(secret: str) -> dict[str, Any]:
    server = info(
        launch_command=f"python -m sglang.launch_server --api-key {secret}",
        api_key=secret,
        admin_api_key=secret,
        env_vars={"HF_TOKEN": secret},
        model_path=f"/models/{secret}/lamp",
        tokenizer_path=secret,
        page_size=secret,
        kv_cache_dtype=secret,
        speculative_algorithm=f"EAGLE-{secret}",
        load_balance_method={"key": secret},
    )
    server[secret] = secret
    return {
        "/server_info": server,
        "/v1/models": listing("lamp", secret, f"/models/{secret}"),
        "/metrics": sglang_metrics(model_name=secret) + f"{secret} 1\n# HELP x {secret}\n",
        "/v1/loads": {"loads": secret},
    }


@pytest.mark.parametrize("secret", [*_SECRETS, CREDENTIAL])
def test_a_secret_on_any_page_goes_no_further(
    secret: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        snapshot = read(_planted(secret))
    assert snapshot.facts.enforced_tokens == POOL - 6
    printed = capsys.readouterr()
    for text in (repr(snapshot), str(snapshot), caplog.text, printed.out, printed.err):
        assert secret not in text


@pytest.mark.parametrize("name", ["bearer:" + "Ab1" * 14, "m:" + "a" * 41, "Zq" * 17])
def test_a_name_with_a_part_as_long_as_a_key_is_none(name: str) -> None:
    assert read(SGLANG | {"/v1/models": listing("lamp", name)}).facts.models == ("lamp",)


def test_an_ordinary_name_beside_the_credential_stays() -> None:
    names = ("node-7731", "DeepSeek-R1-Distill-Qwen-32B-bnb-4bit", "zai-org/GLM-4.6-FP8")
    facts = read(SGLANG | {"/v1/models": listing(*names)}).facts
    assert facts.models == names


def test_a_version_that_repeats_the_credential_is_a_gap() -> None:
    snapshot = read(SGLANG | {"/server_info": info(version=f"0.5.{CREDENTIAL}")})
    assert snapshot.facts.version is None
    assert CREDENTIAL not in repr(snapshot)
    assert "repeats a credential" in why(snapshot, "version")


@pytest.mark.parametrize(
    "echo",
    [CREDENTIAL.upper(), CREDENTIAL[::-1], CREDENTIAL.replace("-", "_"), CREDENTIAL[:-1]],
    ids=["upper case", "backwards", "other marks", "cut"],
)
def test_a_credential_in_another_dress_is_neither_model_nor_setting(echo: str) -> None:
    listing = {"data": [{"id": "glm"}, {"id": echo}]}
    pages = {"/server_info": info(attention_backend=echo, kv_cache_dtype=echo)}
    snapshot = read(SGLANG | pages | {"/v1/models": listing})
    assert echo not in repr(snapshot)
    assert "repeats a credential" in why(snapshot, "models")


def test_a_node_does_not_show_the_credential_of_another() -> None:
    node = Node(SGLANG | {"/server_info": info(version=f"0.5.{OTHER}")})
    both = [ADDRESS, replace(ADDRESS, node="b", credential=OTHER)]
    snapshots = asyncio.run(read_nodes(both, clock=StillClock(), transport=node.transport()))
    assert [each.facts.version for each in snapshots] == [None, None]


def test_the_credential_is_in_no_text_of_its_address() -> None:
    assert CREDENTIAL not in repr(ADDRESS)
    assert CREDENTIAL not in str(ADDRESS)


def _fleet(size: int) -> list[NodeAddress]:
    return [
        replace(ADDRESS, node=f"n{index}", url=f"http://n{index}.test:30000")
        for index in range(size)
    ]


class _Fleet(httpx.AsyncBaseTransport):
    """Serves a fleet, and counts how many nodes are being asked at the same time."""

    def __init__(self, hanging: str | None = None, others: int = 0) -> None:
        self._node = Node(SGLANG)
        self._hanging = hanging
        self._others = others
        self._all_others = asyncio.Event()
        self._asking: dict[str, int] = {}
        self.read: set[str] = set()
        self.most = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        if host == self._hanging:
            await self._all_others.wait()
        self._asking[host] = self._asking.get(host, 0) + 1
        self.most = max(self.most, sum(1 for count in self._asking.values() if count))
        await asyncio.sleep(0)
        self._asking[host] -= 1
        if request.url.path == "/metrics":
            self.read.add(host)
        if len(self.read) == self._others:
            self._all_others.set()
        return self._node.answer(request)


def _read_fleet(fleet: _Fleet, size: int, *, concurrency: int) -> tuple[NodeSnapshot, ...]:
    async def run() -> tuple[NodeSnapshot, ...]:
        return await read_nodes(
            _fleet(size), clock=SystemClock(), concurrency=concurrency, transport=fleet
        )

    return asyncio.run(run())


def test_two_hundred_nodes_are_read_in_their_order_a_bounded_number_at_a_time() -> None:
    fleet = _Fleet()
    snapshots = _read_fleet(fleet, 200, concurrency=16)
    assert [each.node for each in snapshots] == [f"n{index}" for index in range(200)]
    assert all(each.facts.pool_tokens == POOL for each in snapshots)
    assert fleet.most <= 16


def test_a_node_that_hangs_holds_up_no_other() -> None:
    """It answers only once all the others were read: were they to wait for it, none would be."""
    fleet = _Fleet(hanging="n3.test", others=199)
    snapshots = _read_fleet(fleet, 200, concurrency=4)
    assert all(each.facts.pool_tokens == POOL for each in snapshots)
    assert len(fleet.read) == 200


class _Silent(httpx.AsyncBaseTransport):
    """Answers every page but one."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._node = Node(SGLANG)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == self._path:
            await asyncio.Event().wait()
        return self._node.answer(request)


class _Waited(selectors.DefaultSelector):
    """Waits for nothing: what it would have waited for is added to ``seconds``."""

    seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing is left that could ever happen"
        self.seconds += max(0.0, timeout)
        return super().select(0)


class _Idle(asyncio.SelectorEventLoop):
    """A loop whose time moves only while all that runs on it waits."""

    def __init__(self) -> None:
        self._waited = _Waited()
        super().__init__(self._waited)

    def time(self) -> float:
        return self._waited.seconds


class _OfTheLoop(StillClock):
    """The time of the loop it is asked on."""

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


def test_a_page_that_never_comes_costs_its_own_facts_alone() -> None:
    """The time of the node is over once all other pages are in, however long they take."""
    reading = read_nodes(
        [ADDRESS], clock=_OfTheLoop(), timeout_seconds=0.2, transport=_Silent("/metrics")
    )
    with asyncio.Runner(loop_factory=_Idle) as runner:
        snapshot = runner.run(reading)[0]
    assert snapshot.facts.enforced_tokens == POOL - 6
    assert "no whole answer" in why(snapshot, "metrics")


class _Late(StillClock):
    """A clock on which the time of a node is over at its second look."""

    def monotonic(self) -> float:
        self.seconds += 3.0
        return self.seconds


def test_no_page_is_asked_for_when_the_time_is_over() -> None:
    node = Node(SGLANG)
    reading = read_nodes([ADDRESS], clock=_Late(), timeout_seconds=2.0, transport=node.transport())
    snapshot = asyncio.run(reading)[0]
    assert (snapshot.reached, node.asked) == (False, [])
    assert "no time" in why(snapshot, "node")


def _spoken_of(rule: Any) -> set[str]:
    if isinstance(rule, list):
        return {name for each in rule for name in _spoken_of(each)}
    if not isinstance(rule, dict):
        return set()
    own = {rule["setting"]} if isinstance(rule.get("setting"), str) else set()
    return own | {name for each in rule.values() for name in _spoken_of(each)}


def test_every_setting_that_a_rule_speaks_of_is_one_that_is_read() -> None:
    """A rule of a setting that nobody reads could never be told."""
    files = sorted((ROOT / "monitor/nodes/rules").glob("*.yaml"))
    rules = [rule for file in files for rule in yaml.safe_load(file.read_text("utf-8"))["rules"]]
    of_engines = [rule for rule in rules if rule["engine"] in NODE_ENGINES]
    assert of_engines
    for rule in of_engines:
        assert _spoken_of(rule["when"]) <= {*NODE_ENGINES[rule["engine"]].settings}, rule["id"]


def test_every_engine_has_pages_it_is_known_by() -> None:
    for reader in NODE_ENGINES.values():
        assert set(reader.signs) <= READABLE
