"""The client sends where it may, once, and never says more of a failure than our own words."""

from __future__ import annotations

import asyncio
import logging
import zlib
from typing import TYPE_CHECKING

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.clock import SystemClock
from monitor.http import HttpClient, Limits, OnChunk, RawReply, origin_of
from monitor.inflate import Decoder
from monitor.model import Failure, FailureKind
from tests.fakes.hostile import HostileServer, compressed, hang, raw, reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SECRET = "sk-very-secret-credential"  # noqa: S105 - a made-up one


def _client(
    url: str, *, limits: Limits | None = None, transport: httpx.AsyncBaseTransport | None = None
) -> HttpClient:
    origins = frozenset({origin_of(url)})
    return HttpClient(origins=origins, clock=SystemClock(), limits=limits, transport=transport)


async def _get(
    client: HttpClient, url: str, *, on_chunk: OnChunk | None = None, timeout_seconds: float = 5.0
) -> RawReply:
    headers = {"Authorization": f"Bearer {SECRET}"}
    return await client.send(
        "GET", url, headers=headers, timeout_seconds=timeout_seconds, on_chunk=on_chunk
    )


def _failing(error: Exception) -> tuple[httpx.MockTransport, list[httpx.Request]]:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        raise error

    return httpx.MockTransport(handler), seen


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://Host.Example/v1", ("http", "host.example", 80)),
        ("https://host.example", ("https", "host.example", 443)),
        ("http://[::1]:8000/v1", ("http", "::1", 8000)),
    ],
)
def test_the_origin_of_a_url(url: str, origin: tuple[str, str, int]) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host/v1",
        "ftp://host/",
        "file:///etc/passwd",
        "http:///v1",
        "http://me:pw@host/",
        "http://[::1/",
    ],
)
def test_a_url_we_would_not_go_to_has_no_origin(url: str) -> None:
    with pytest.raises(ValueError, match="not an http or https URL"):
        origin_of(url)


def test_another_origin_is_refused_before_any_connection() -> None:
    async def run() -> tuple[list[Failure | None], int]:
        async with HostileServer(reply({})) as ours, HostileServer(reply({})) as other:
            client = _client(ours.url)
            other_host = ours.url.replace("127.0.0.1", "localhost")
            urls = [other.url, other_host, ours.url.replace("http:", "https:"), "", "ftp://x/"]
            urls += [ours.url.replace("//", "//me:pw@")]
            replies = [await _get(client, url) for url in urls]
            return [each.failure for each in replies], other.connections + ours.connections

    failures, connections = asyncio.run(run())
    assert connections == 0
    assert {failure.kind for failure in failures if failure} == {FailureKind.CONNECT}
    assert None not in failures


def test_a_redirect_is_not_followed() -> None:
    async def run() -> tuple[RawReply, int]:
        async with HostileServer(reply({})) as other:
            to_other = reply(b"", status=302, headers=[("Location", other.url)])
            async with HostileServer(to_other) as server:
                answer = await _get(_client(server.url), server.url)
                assert len(server.received) == 1
                return answer, other.connections

    answer, connections = asyncio.run(run())
    assert connections == 0
    assert answer.failure == Failure(
        kind=FailureKind.HTTP_STATUS, detail="redirect, not followed", code=302
    )


def test_cookies_are_not_kept_and_connections_not_shared() -> None:
    async def run() -> HostileServer:
        setting = reply({}, headers=[("Set-Cookie", "session=1; Path=/")])
        async with HostileServer(setting) as server:
            client = _client(server.url)
            await _get(client, server.url)
            await _get(client, server.url)
            await client.aclose()
            return server

    server = asyncio.run(run())
    assert server.connections == 2
    assert [("cookie" in request.headers) for request in server.received] == [False, False]
    assert {request.headers["accept-encoding"] for request in server.received} == {"identity"}


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> tuple[RawReply, int]:
        async with HostileServer(reply({})) as proxy, HostileServer(reply({})) as server:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.root)
            monkeypatch.delenv("NO_PROXY", raising=False)
            return await _get(_client(server.url), server.url), proxy.connections

    answer, connections = asyncio.run(run())
    assert (answer.status, connections) == (200, 0)


@pytest.mark.parametrize(
    ("error", "attempts", "kind"),
    [
        (httpx.ConnectError("x"), 2, FailureKind.CONNECT),
        (httpx.ConnectTimeout("x"), 2, FailureKind.CONNECT),
        (httpx.ReadError("x"), 1, FailureKind.CUT_STREAM),
        (httpx.WriteError("x"), 1, FailureKind.CUT_STREAM),
        (httpx.ReadTimeout("x"), 1, FailureKind.TIMEOUT),
        (httpx.RemoteProtocolError("x"), 1, FailureKind.PROTOCOL),
        (OSError("x"), 1, FailureKind.CUT_STREAM),
    ],
)
def test_only_a_connection_that_never_was_is_opened_again(
    error: Exception, attempts: int, kind: FailureKind
) -> None:
    transport, seen = _failing(error)
    answer = asyncio.run(_get(_client("http://a/", transport=transport), "http://a/"))
    assert len(seen) == attempts
    assert answer.failure is not None
    assert answer.failure.kind is kind


def test_a_refused_connection_and_a_name_without_address() -> None:
    async def run() -> list[str]:
        async with HostileServer(reply({})) as server:
            url = server.url
        unknown = "http://name.invalid/"
        replies = [await _get(_client(each), each) for each in (url, unknown)]
        return [each.failure.detail for each in replies if each.failure]

    assert asyncio.run(run()) == ["the connection was refused", "the host name has no address"]


def test_the_deadline_is_for_the_whole_reply() -> None:
    async def drip(_: object, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    async def run() -> RawReply:
        async with HostileServer(drip) as server:
            return await _get(_client(server.url), server.url, timeout_seconds=0.2)

    answer = asyncio.run(run())
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.TIMEOUT
    assert answer.body.startswith(b"x")
    assert answer.status == 200


def test_chunks_are_seen_as_they_arrive() -> None:
    """The first chunk is delivered while the server still waits with the rest."""

    async def run() -> tuple[RawReply, list[bytes]]:
        seen: list[bytes] = []

        def on_chunk(chunk: bytes, seconds: float) -> bool:
            assert seconds > 0
            seen.append(chunk)
            return True

        async with HostileServer(hang(b"HTTP/1.1 200 OK\r\n\r\nfirst")) as server:
            return await _get(_client(server.url), server.url, on_chunk=on_chunk), seen

    answer, seen = asyncio.run(run())
    assert (answer.failure, answer.body, seen) == (None, b"first", [b"first"])
    assert answer.first_byte_seconds is not None
    assert answer.first_byte_seconds <= answer.total_seconds


def test_headers_are_bounded() -> None:
    many = [(f"x-{number}", "v" * 900) for number in range(90)]

    async def run() -> RawReply:
        async with HostileServer(reply({}, headers=many)) as server:
            limits = Limits(headers=10, header_chars=20)
            return await _get(_client(server.url, limits=limits), server.url)

    answer = asyncio.run(run())
    assert len(answer.headers) == 10
    assert max(len(value) for _, value in answer.headers) == 20


@pytest.mark.parametrize("value", ["line\nbreak", "naïve", "nul\0"])
def test_a_credential_that_cannot_be_sent_is_not_quoted(value: str) -> None:
    async def run() -> RawReply:
        client = _client("http://a/")
        headers = {"Authorization": f"Bearer {SECRET}{value}"}
        return await client.send("GET", "http://a/", headers=headers, timeout_seconds=1)

    answer = asyncio.run(run())
    assert answer.failure is not None
    assert SECRET not in repr(answer)


def test_neither_logs_nor_replies_hold_the_credential(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo: Callable[..., Awaitable[None]] = raw(
        b"HTTP/1.1 400 Bad\r\nX-Echo: " + SECRET.encode() + b"\r\n\r\n" + SECRET.encode()
    )

    async def run() -> RawReply:
        async with HostileServer(echo) as server:
            answer = await _get(_client(server.url), server.url)
            assert server.received[0].headers["authorization"] == f"Bearer {SECRET}"
            return answer

    answer = asyncio.run(run())
    assert SECRET in answer.body.decode()
    assert SECRET not in repr(answer)
    ours = [record for record in caplog.records if not record.name.startswith("httpcore")]
    assert SECRET not in repr([record.getMessage() for record in ours])
    sent = [r.getMessage() for r in caplog.records if "send_" in r.getMessage()]
    assert SECRET not in repr(sent)


@pytest.mark.parametrize("bits", [zlib.MAX_WBITS, -zlib.MAX_WBITS, zlib.MAX_WBITS | 16])
@given(body=st.binary(max_size=5_000), sizes=st.lists(st.integers(2, 700), min_size=1))
def test_compressed_chunks_decode_as_the_whole(bits: int, body: bytes, sizes: list[int]) -> None:
    squeeze = zlib.compressobj(6, zlib.DEFLATED, bits)
    data = squeeze.compress(body) + squeeze.flush()
    decoder = Decoder.named("deflate")
    assert decoder is not None
    plain = bytearray()
    while data:
        size = sizes[len(plain) % len(sizes)]
        plain += b"".join(decoder.feed(data[:size]))
        data = data[size:]
    assert bytes(plain) == body
    assert decoder.whole


def test_padding_after_a_compressed_body_is_ignored() -> None:
    async def run() -> RawReply:
        padded = zlib.compress(b"plain") + b"\0" * 9
        async with HostileServer(compressed(padded, encoding="deflate", plain=False)) as server:
            return await _get(_client(server.url), server.url)

    answer = asyncio.run(run())
    assert (answer.body, answer.failure) == (b"plain", None)


HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"part"])
def test_hanging_up_closes_the_connection(sent: bytes) -> None:
    """The server sees its client gone, whatever it had sent by then."""

    async def run() -> RawReply:
        async with HostileServer(hang(sent)) as server:
            answer = await _client(server.url).send(
                "GET", server.url, headers={}, timeout_seconds=60, hang_up_seconds=0.1
            )
            await asyncio.wait_for(server.left.wait(), 5)
            assert server.connections == 1
            return answer

    answer = asyncio.run(run())
    assert answer.failure == Failure(kind=FailureKind.CANCELLED, detail="broken off on purpose")
    assert answer.body == sent.removeprefix(HEAD)
    assert answer.status == (200 if sent else None)


def test_an_answer_that_ends_before_the_hang_up_is_whole() -> None:
    async def run() -> RawReply:
        async with HostileServer(reply({})) as server:
            return await _client(server.url).send(
                "GET", server.url, headers={}, timeout_seconds=60, hang_up_seconds=30
            )

    answer = asyncio.run(run())
    assert (answer.failure, answer.body) == (None, b"{}")


def test_a_deadline_before_the_hang_up_is_a_timeout() -> None:
    async def run() -> RawReply:
        async with HostileServer(hang()) as server:
            return await _client(server.url).send(
                "GET", server.url, headers={}, timeout_seconds=0.1, hang_up_seconds=30
            )

    answer = asyncio.run(run())
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.TIMEOUT
