"""Connections go to allowed addresses only, and to the one that was checked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Sequence
from ipaddress import ip_address

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.clock import SystemClock
from monitor.http import HttpClient, Origin, origin_of
from monitor.nodes.guard import NEVER, Allowed, GuardedTransport, Resolve
from tests.fakes.hostile import HostileServer, reply

INSIDE = "http://node.test:30000/metrics"
FOUND = "https://10.0.0.5:8443/x"
METADATA = (
    *("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "0.0.0.1"),
    *("fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::1", "::", "2001:0:a9fe:a9fe::1"),
)
EVERYWHERE = ("0.0.0.0/0", "::/0")


class Resolver:
    """Answers each look-up with the next of some answers, the last one again and again."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not answer:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return answer


class Inner(httpx.AsyncBaseTransport):
    """Takes every connection but those to some addresses, and remembers where each went."""

    def __init__(self, refusing: Sequence[str] = ()) -> None:
        self._refusing = refusing
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.host in self._refusing:
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(200, content=b"ok")


def _sent(
    allowed: Allowed,
    url: str,
    resolve: Resolve,
    *,
    inner: Inner | None = None,
    times: int = 1,
    names: dict[Origin, str] | None = None,
) -> tuple[list[str | None], list[httpx.Request]]:
    """Return why each request failed (``None`` if it did not), and what was connected to."""
    inner = inner or Inner()

    async def run() -> list[str | None]:
        transport = GuardedTransport(allowed, resolve=resolve, inner=inner, names=names)
        http = HttpClient(
            origins=frozenset({origin_of(url)}), clock=SystemClock(), transport=transport
        )
        replies = [
            await http.send("GET", url, headers={}, timeout_seconds=5.0) for _ in range(times)
        ]
        return [each.failure.detail if each.failure else None for each in replies]

    return asyncio.run(run()), inner.requests


def test_a_found_node_within_the_ranges_is_connected_to_at_its_address() -> None:
    allowed = Allowed.by(["10.0.0.0/8"], [])
    failures, requests = _sent(allowed, INSIDE, Resolver(["10.1.2.3"]))
    assert failures == [None]
    [request] = requests
    assert str(request.url) == "http://10.1.2.3:30000/metrics"
    assert request.headers["host"] == "node.test:30000"


def test_a_found_node_outside_the_ranges_is_never_connected_to() -> None:
    allowed = Allowed.by(["10.0.0.0/8"], [])
    failures, requests = _sent(allowed, INSIDE, Resolver(["192.0.2.7"]))
    assert failures == ["its address is not among those that may be read"]
    assert requests == []


def test_a_name_that_is_given_another_address_after_the_check_changes_nothing() -> None:
    resolve = Resolver(["10.1.2.3"], ["169.254.169.254"], ["192.0.2.7"])
    failures, requests = _sent(Allowed.by(["10.0.0.0/8"], []), INSIDE, resolve, times=3)
    assert failures == [None, None, None]
    assert {request.url.host for request in requests} == {"10.1.2.3"}
    assert resolve.asked == [("node.test", 30000)]


def test_of_several_addresses_only_those_allowed_are_tried() -> None:
    inner = Inner(refusing=["10.0.0.1"])
    resolve = Resolver(["192.0.2.7", "10.0.0.1", "169.254.169.254", "10.0.0.2"])
    failures, requests = _sent(Allowed.by(["10.0.0.0/8"], []), INSIDE, resolve, inner=inner)
    assert failures == [None]
    assert [request.url.host for request in requests] == ["10.0.0.1", "10.0.0.2"]


def test_a_name_without_an_address_says_so() -> None:
    failures, requests = _sent(Allowed.by(EVERYWHERE, []), INSIDE, Resolver([]))
    assert (failures, requests) == (["the host name has no address"], [])


def test_a_name_that_is_not_resolved_in_time_is_given_up() -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return [host, str(port)]

    async def run() -> None:
        transport = GuardedTransport(Allowed.by(EVERYWHERE, []), resolve=never, inner=Inner())
        request = httpx.Request("GET", INSIDE, extensions={"timeout": {"connect": 0.01}})
        await transport.handle_async_request(request)

    with pytest.raises(httpx.ConnectTimeout):
        asyncio.run(run())


@pytest.mark.parametrize("address", METADATA)
def test_no_wide_range_leads_to_where_credentials_are_handed_out(address: str) -> None:
    failures, requests = _sent(Allowed.by(EVERYWHERE, []), INSIDE, Resolver([address]))
    assert failures == ["its address is not among those that may be read"]
    assert requests == []


@pytest.mark.parametrize("address", METADATA)
def test_a_listed_name_does_not_lead_there_either(address: str) -> None:
    _, requests = _sent(Allowed.by([], [INSIDE]), INSIDE, Resolver([address]))
    assert requests == []


@pytest.mark.parametrize(
    "address",
    [
        *("::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::ffff:a9fe:a9fe"),
        *("64:ff9b:1::a9fe:a9fe", "64:ff9b:1:a9fe:a9:fe00::", "::169.254.169.254"),
        *("::ffff:0:169.254.169.254", "::168.63.129.16"),
    ],
)
def test_an_address_that_hides_another_is_judged_by_it(address: str) -> None:
    allowed = Allowed.by(EVERYWHERE, [INSIDE])
    _, requests = _sent(allowed, INSIDE, Resolver([address]))
    assert requests == []


def test_a_range_within_such_addresses_allows_it() -> None:
    allowed = Allowed.by(["169.254.10.0/24"], [])
    failures, _ = _sent(allowed, INSIDE, Resolver(["169.254.10.7"]))
    assert failures == [None]
    failures, _ = _sent(allowed, INSIDE, Resolver(["169.254.169.254"]))
    assert failures == ["its address is not among those that may be read"]


def test_a_range_of_a_sites_own_translator_does_not_open_what_hides_there() -> None:
    allowed = Allowed.by(["64:ff9b:1::/96"], [])
    failures, _ = _sent(allowed, INSIDE, Resolver(["64:ff9b:1::10.0.0.7"]))
    assert failures == [None]
    _, requests = _sent(allowed, INSIDE, Resolver(["64:ff9b:1::a9fe:a9fe"]))
    assert requests == []


def test_the_machine_itself_hides_no_other_address() -> None:
    failures, _ = _sent(Allowed.by(["::1/128"], []), INSIDE, Resolver(["::1"]))
    assert failures == [None]


@pytest.mark.parametrize("url", ["http://169.254.10.7:30000/x", "http://[fe80::7]:30000/x"])
def test_an_address_that_is_written_in_the_list_is_read_as_written(url: str) -> None:
    failures, requests = _sent(Allowed.by([], [url]), url, Resolver([]))
    assert failures == [None]
    assert str(requests[0].url) == url


def test_a_listed_name_may_be_anywhere_else() -> None:
    failures, _ = _sent(Allowed.by([], [INSIDE]), INSIDE, Resolver(["203.0.113.9"]))
    assert failures == [None]


def test_what_is_listed_is_one_port_and_not_the_whole_host() -> None:
    other = "http://node.test:6379/metrics"
    _, requests = _sent(Allowed.by([], [INSIDE]), other, Resolver(["203.0.113.9"]))
    assert requests == []


def test_a_server_at_a_bare_address_shows_a_certificate_for_the_name_it_was_found_by() -> None:
    allowed, names = Allowed.by(["10.0.0.0/8"], []), {origin_of(FOUND): "prefill.svc"}
    _, [request] = _sent(allowed, FOUND, Resolver([]), names=names)
    assert request.extensions["sni_hostname"] == "prefill.svc"
    assert request.headers["host"] == "prefill.svc:8443"
    _, [request] = _sent(allowed, "https://10.0.0.6:8443/x", Resolver([]))
    assert "sni_hostname" not in request.extensions


@pytest.mark.parametrize(
    ("url", "listed", "name"),
    [
        (FOUND, [FOUND], None),
        ("https://10.0.0.5:9443/x", [], None),
        ("http://10.0.0.5:8443/x", [], None),
        ("https://node.test:8443/x", ["https://node.test:8443"], "node.test"),
    ],
)
def test_no_other_server_at_that_address_is_asked_by_that_name(
    url: str, listed: list[str], name: str | None
) -> None:
    allowed, names = Allowed.by(["10.0.0.0/8"], listed), {origin_of(FOUND): "prefill.svc"}
    _, [request] = _sent(allowed, url, Resolver(["10.0.0.5"]), names=names)
    assert request.extensions.get("sni_hostname") == name
    assert request.headers["host"] == httpx.URL(url).netloc.decode()


def test_a_name_is_kept_for_the_certificate_where_the_address_is_connected_to() -> None:
    _, [request] = _sent(
        Allowed.by(["10.0.0.0/8"], []), "https://node.test/x", Resolver(["10.0.0.5"])
    )
    assert request.extensions["sni_hostname"] == "node.test"
    assert (request.url.host, request.headers["host"]) == ("10.0.0.5", "node.test")


def test_it_connects_for_real() -> None:
    async def run() -> bytes:
        async with HostileServer(reply(b"hello")) as server:
            port = origin_of(server.url)[2]
            url = f"http://node.test:{port}/"
            transport = GuardedTransport(
                Allowed.by(["127.0.0.0/8"], []), resolve=Resolver(["127.0.0.1"])
            )
            http = HttpClient(
                origins=frozenset({origin_of(url)}), clock=SystemClock(), transport=transport
            )
            answer = await http.send("GET", url, headers={}, timeout_seconds=5.0)
            await transport.aclose()
            return answer.body

    assert asyncio.run(run()) == b"hello"


def _never() -> Iterator[st.SearchStrategy[str]]:
    for network in NEVER:
        yield st.ip_addresses(network=network).map(str)


@given(st.one_of(*_never()), st.booleans())
def test_nothing_that_is_never_read_is_allowed_by_name(address: str, listed: bool) -> None:
    allowed = Allowed.by(EVERYWHERE, [INSIDE] if listed else [])
    assert not allowed.allows(origin_of(INSIDE), ip_address(address))


@given(st.ip_addresses(v=4))
def test_only_what_lies_in_a_range_is_allowed(address: object) -> None:
    allowed = Allowed.by(["10.0.0.0/8"], [])
    plain = ip_address(str(address))
    assert allowed.allows(origin_of(INSIDE), plain) == str(address).startswith("10.")
