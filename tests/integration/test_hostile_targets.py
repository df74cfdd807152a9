"""Targets that answer with anything but answers: all of them at once, in one run of ``check``.

Each behaviour is a target of its own, so that one run shows that none disturbs the others.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.fakes.hostile import (
    STREAM_HEAD,
    Behaviour,
    HostileServer,
    Received,
    big_body,
    cut,
    endless,
    gzip_bomb,
    hang,
    raw,
    reply,
    reset,
    stream,
)
from tests.integration.processes import Endpoint, Installation, Run, install_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitor.reports.check import TargetReport

KEYS = {"tenant-a": "sk-hostile-key-a-6f2", "tenant-b": "sk-hostile-key-b-91c"}
MODEL = "hostile-1"
# Planted in whatever a target can say; it must be found nowhere but on the wire.
SAID = "wxq-said-by-the-target-77"
ESCAPE = f"\x1b[31m\x1b]0;owned\x07\u202e{SAID}"
PEAK_BYTES = 900_000_000
START_SECONDS = 10.0
_MARKER = re.compile(r"[a-z]{5}(?:-[a-z]{5}){3}")


def completion(content: object = SAID, **changes: object) -> dict[str, object]:
    """Return a chat completion with whatever a hostile target puts into it."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "model": MODEL}
    return whole | {"choices": [choice], "usage": usage} | changes


def chunk(content: str, finish: str | None = None) -> dict[str, object]:
    """Return one event of a streamed completion."""
    delta = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [delta]}


class Thief:
    """Remembers the first marker of one tenant, and gives it to the other in a stream it cuts."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}

    async def __call__(self, request: Received, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        tenant = request.headers.get("authorization", "")
        marker = _MARKER.search(request.body.decode("utf-8"))
        if marker:
            self._taken.setdefault(tenant, marker.group())
        others = [taken for owner, taken in self._taken.items() if owner != tenant]
        event = b"data: " + json.dumps(chunk(f"Here it is: {' '.join(others)} and")).encode()
        await cut(event + b"\n\n")(request, writer)


async def names_of_keys(request: Received, writer: asyncio.StreamWriter) -> None:
    """Call everything as the credential that came with the request."""
    key = request.headers.get("authorization", "").removeprefix("Bearer ")
    named = completion(id=key, model=f"m-{key}", system_fingerprint=f"fp_{key}")
    await reply(named, headers=[("x-request-id", key)])(request, writer)


CHOICES = [{"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A behaviour, the exit its target must come to, and words its reasons must hold."""

    behaviour: Callable[[], Behaviour]
    exit_code: int
    words: str
    classes: frozenset[str] = frozenset()


def bad(behaviour: Callable[[], Behaviour], words: str, *classes: str) -> Case:
    return Case(behaviour=behaviour, exit_code=1, words=words, classes=frozenset(classes))


def error(behaviour: Callable[[], Behaviour], words: str) -> Case:
    return Case(behaviour=behaviour, exit_code=3, words=words)


# Bounded by bytes: a busy machine must not run out of time first.
LARGE = ("300-mb", "endless-stream", "endless-line")

CASES = {
    "html": bad(lambda: reply(b"<html>" + SAID.encode(), content_type="text/html"), "", "CONTRACT"),
    "half-json": bad(lambda: reply(json.dumps(completion()).encode()[:60]), "", "CONTRACT"),
    "not-json": bad(lambda: reply(SAID.encode()), "", "CONTRACT"),
    "empty-body": bad(lambda: reply(b""), "", "CONTRACT"),
    "an-array": bad(lambda: reply([1, 2]), "", "CONTRACT"),
    "nested": bad(lambda: reply(b"[" * 100_000), "", "CONTRACT"),
    "wrong-type": bad(
        lambda: reply(completion(), content_type="application/octet-stream"), "", "CONTRACT"
    ),
    "bad-utf8": bad(
        lambda: reply(json.dumps(completion()).encode().replace(b"wxq", b"\xff\xfe")), ""
    ),
    "two-choices": bad(lambda: reply(completion(choices=CHOICES * 2)), "", "CONTRACT"),
    "no-choices": bad(lambda: reply(completion(choices=[])), "", "CONTRACT"),
    "null-usage": bad(lambda: reply(completion(usage=None)), "breaks the protocol", "CONTRACT"),
    "null-content": bad(lambda: reply(completion(content=None)), "", "CONTRACT"),
    "odd-content": bad(lambda: reply(completion(content={"a": [1]})), "", "CONTRACT"),
    "escapes": bad(
        lambda: reply(
            completion(ESCAPE, id=ESCAPE, model=ESCAPE, system_fingerprint=ESCAPE),
            headers=[("x-request-id", "\x1b[31mred")],
        ),
        "",
    ),
    "error-escapes": error(
        lambda: reply({"error": {"message": ESCAPE, "type": ESCAPE}}, status=500), "status 500"
    ),
    "300-mb": error(lambda: big_body(300_000_000), "larger than allowed"),
    "endless-stream": error(
        lambda: endless(STREAM_HEAD, b"data: " + json.dumps(chunk("a ")).encode() + b"\n\n"),
        "larger than allowed",
    ),
    "endless-line": error(lambda: endless(STREAM_HEAD, b"x" * 65_536), "larger than allowed"),
    "gzip-bomb": error(lambda: gzip_bomb(1_000_000_000), ""),
    "cut-stream": error(
        lambda: cut(b"data: " + json.dumps(chunk("half of")).encode() + b"\n\n"), "cut off"
    ),
    "reset": error(lambda: reset(STREAM_HEAD), ""),
    "nothing": error(raw, ""),
    "silence": error(hang, "in time"),
    "hangs-mid-way": error(lambda: hang(b"HTTP/1.1 200 OK\r\nContent-Le"), "in time"),
    "not-http": error(lambda: raw(b"SSH-2.0-OpenSSH_9.6\r\n"), ""),
    "stream-of-junk": bad(lambda: stream(b"{", b"null", b'"x"'), ""),
    "names-of-keys": bad(lambda: names_of_keys, ""),
    "thief": bad(Thief, "another tenant's text, proven", "LEAK"),
}


class HostileServers:
    """Serves every case in a thread of its own while entered."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        # Made before the servers start: a bomb of a gigabyte takes longer than they do.
        self._behaviours = {name: case.behaviour() for name, case in CASES.items()}
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()))
        self.urls: dict[str, str] = {}

    async def _serve(self) -> None:
        async with AsyncExitStack() as stack:
            for name, behaviour in self._behaviours.items():
                server = HostileServer(chat_only(behaviour))
                await stack.enter_async_context(server)
                self.urls[name] = server.url
            self._ready.set()
            await self._stop.wait()

    def __enter__(self) -> dict[str, str]:
        self._thread.start()
        assert self._ready.wait(START_SECONDS)
        return self.urls

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(START_SECONDS)
        self._loop.close()


def chat_only(behaviour: Behaviour) -> Behaviour:
    """Let the behaviour answer prompts; whatever is asked of the server itself is not there."""
    missing = reply({"detail": "Not Found"}, status=404)

    async def behave(request: Received, writer: asyncio.StreamWriter) -> None:
        await (behaviour if request.method == "POST" else missing)(request, writer)

    return behave


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """One run over all hostile targets, and what it left behind."""

    run: Run
    installation: Installation
    junit: str

    def target(self, name: str) -> TargetReport:
        return self.run.targets[name]


@pytest.fixture(scope="module")
def show(tmp_path_factory: pytest.TempPathFactory) -> Show:
    folder = tmp_path_factory.mktemp("hostile")
    with HostileServers() as urls:
        endpoints = {name: Endpoint(url=url, model=MODEL, keys=KEYS) for name, url in urls.items()}
        patience = {name: {"timeout": "60s" if name in LARGE else "1s"} for name in urls}
        installation = install_all(folder, endpoints, **patience)
        junit = folder / "report.xml"
        run = installation.check("--probe", "canary", "--junit", str(junit))
    return Show(run=run, installation=installation, junit=junit.read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_target_is_bad_or_an_error_with_a_clear_reason(name: str, show: Show) -> None:
    case, target = CASES[name], show.target(name)
    exchanges = [exchange for trial in target.trials for exchange in trial.exchanges]
    said = [(e.failure, e.outcome, e.verdict_class, e.reason) for e in exchanges]
    assert target.exit_code == case.exit_code, said
    held_back = [gap for gap in target.not_probed if gap.code == "frozen"]
    scheduled = [trial for trial in target.trials if trial.scheduled]
    assert len(scheduled) + len(held_back) == 4  # the run went on to its end
    assert bool(held_back) == ("LEAK" in case.classes)
    assert "invalid" not in {exchange.outcome for exchange in exchanges}, said
    assert all(exchange.reason for exchange in exchanges)
    reasons = " ".join(exchange.reason for exchange in exchanges)
    assert case.words in reasons, said
    assert case.classes <= {exchange.verdict_class for exchange in exchanges}, said


def test_the_run_comes_to_its_end_with_one_exit(show: Show) -> None:
    assert show.run.exit_code == 1
    assert len(show.run.report.targets) == len(CASES)
    assert "Traceback" not in show.run.stderr


def test_memory_stays_bounded(show: Show) -> None:
    print(f"peak {show.run.peak_bytes / 1e6:.0f} MB over {len(CASES)} hostile targets at once")
    assert show.run.peak_bytes < PEAK_BYTES


def test_nothing_a_target_says_is_printed_or_kept(show: Show) -> None:
    printed = show.run.stdout + show.run.stderr + show.junit
    told = [
        show.installation.davylamp("explain", show.target(name).trials[0].trial).stdout
        for name in ("escapes", "names-of-keys", "thief")
    ]
    everything = printed + "".join(told)
    stored = show.installation.store_bytes().decode("latin-1") + str(show.installation.contents())
    for secret in (*KEYS.values(), SAID, "\x1b"):
        assert secret not in everything, secret
    for secret in (*KEYS.values(), SAID):
        assert secret not in stored, secret
