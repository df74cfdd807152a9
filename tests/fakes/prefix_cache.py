"""A prefix cache as engines have one, and the traffic of probes over it, for CACHED and TIMING.

The server cuts prompts into tokens of a few bytes, renders them with a template (and perhaps a
system prompt of its own that nobody sees), and counts what it computed before, in whole blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random

from monitor.longtext import filler
from monitor.model import Exchange, Message, Request, Tool, Trial, Usage
from tests.builders import NOW, Bench, a_trial, an_exchange

TENANTS = ("tenant-a", "tenant-b", "tenant-c")
BLOCKS = (1, 16, 64, 128, 256, 1024)
Token = tuple[str, int, bytes]


@dataclass
class Server:
    """One engine. ``beside``: cached tokens are not counted among the prompt's."""

    rng: Random
    block: int
    token_bytes: int
    hidden: int = 0
    beside: bool = False
    apart: bool = False
    hoists: bool = False
    tools_last: bool = False
    kept: dict[str, list[list[Token]]] = field(default_factory=dict)

    def serve(self, request: Request, tenant: str) -> Usage:
        """Return the counts of a request, and keep it for the next."""
        tokens = self.render(request)
        kept = self.kept.setdefault(tenant if self.apart else "", [])
        known = max((_alike(tokens, other) for other in kept), default=0)
        cached = min(known, len(tokens) - 1) // self.block * self.block
        kept.append(tokens)
        counted = len(tokens) - cached if self.beside else len(tokens)
        return Usage(input_tokens=counted, output_tokens=30, cached_tokens=cached)

    def render(self, request: Request) -> list[Token]:
        """Return the tokens of the prompt as the model reads it."""
        messages = list(request.messages)
        if self.hoists:
            messages.sort(key=lambda m: m.role not in ("system", "developer"))
        tools = [t for tool in request.tools for t in self._cut("tool", 0, _indented(tool))]
        tokens: list[Token] = [("hidden", i, b"") for i in range(self.hidden)]
        tokens += [] if self.tools_last else tools
        for message in messages:
            tokens += [("template", i, message.role.encode()) for i in range(4)]
            tokens += self._cut(message.role, 0, message.content)
        return tokens + (tools if self.tools_last else []) + [("template", 9, b"assistant")]

    def _cut(self, kind: str, place: int, text: str) -> list[Token]:
        data, size = text.encode(), self.token_bytes
        return [(kind, place, data[i : i + size]) for i in range(0, len(data), size)]


def a_server(rng: Random, **fields: object) -> Server:
    """Return a server of random habits."""
    drawn: dict[str, object] = {
        "block": rng.choice(BLOCKS),
        "token_bytes": rng.choice((2, 3, 4, 5)),
        "hidden": rng.choice((0, 0, 0, 30, 700, 3000)),
        "beside": rng.random() < 0.3,
        "apart": rng.random() < 0.5,
        "hoists": rng.random() < 0.5,
        "tools_last": rng.random() < 0.3,
    }
    return Server(rng, **(drawn | fields))  # type: ignore[arg-type]


def trials(bench: Bench, server: Server, rng: Random, count: int) -> Iterator[Trial]:
    """Yield what probes send to a server, one trial after the other, with its counts."""
    clock = NOW
    for number in range(count):
        name = f"trial-{number}"
        asked = [
            replace(e, index=i, timing=replace(e.timing, started_at=clock + timedelta(seconds=i)))
            for i, e in enumerate(rng.choice(_KINDS)(bench, rng, name))
        ]
        clock += timedelta(minutes=1)
        yield a_trial(*(_served(e, server) for e in asked), id=name, target="glm")


def _served(exchange: Exchange, server: Server) -> Exchange:
    assert exchange.response is not None
    usage = server.serve(exchange.request, exchange.tenant)
    return replace(exchange, response=replace(exchange.response, usage=usage))


def _asked(tenant: str, *messages: tuple[str, str], tools: tuple[Tool, ...] = ()) -> Exchange:
    exchange = an_exchange("", "Yes.", tenant=tenant)
    request = Request(
        messages=tuple(Message(role=role, content=text) for role, text in messages),
        max_output_tokens=64,
        tools=tools,
    )
    return replace(exchange, request=request)


def _short(bench: Bench, rng: Random, trial: str) -> list[Exchange]:
    tenant = rng.choice(TENANTS)
    code = bench.mint(tenant, 0, trial)
    question = f"Please answer both questions.\n1. The reference code is {code}. 2. What is 6 x 7?"
    return [_asked(tenant, ("user", question))]


def _repeated(bench: Bench, rng: Random, trial: str) -> list[Exchange]:
    """The same prompts cold and warm, once more after a number of their own."""
    tenant, sentences = rng.choice(TENANTS), rng.choice((0, 30, 120))
    texts = [
        f"Logbook {rng.randrange(10**9):09d}. {' '.join(filler(sentences))} "
        f"The code is {bench.mint(tenant, i, trial)}."
        for i in range(2)
    ]
    salted = [f"Sheet {rng.randrange(10**9):09d}.\n{text}" for text in texts]
    return [_asked(tenant, ("user", text)) for text in (*texts, *texts, *salted)]


def _shared_beginning(bench: Bench, rng: Random, trial: str) -> list[Exchange]:
    """One long beginning from one tenant, then two followers, mostly of another."""
    donor, follower = rng.choice(TENANTS), rng.choice(TENANTS)
    beginning = f"Logbook {rng.randrange(10**9):09d}. {' '.join(filler(rng.choice((20, 60, 200))))}"
    return [
        _asked(tenant, ("system", beginning), ("user", f"Repeat {bench.mint(tenant, i, trial)}."))
        for i, tenant in enumerate((donor, follower, follower))
    ]


def _long(bench: Bench, rng: Random, trial: str) -> list[Exchange]:
    """Donors and a long prompt, each with markers at head, middle and tail."""
    found = []
    for index, sentences in enumerate((16, 80, rng.choice((300, 800, 1500)))):
        tenant = rng.choice(TENANTS)
        lines = filler(sentences)
        for place in (2, sentences // 2, sentences - 2):
            lines.insert(place, f"Note: the pass phrase is {bench.mint(tenant, index, trial)}.")
        found.append(_asked(tenant, ("user", " ".join(lines))))
    return found


def _talk(bench: Bench, rng: Random, trial: str) -> list[Exchange]:
    """A conversation turn by turn, with a tool and perhaps a system message in its midst."""
    tenant = rng.choice(TENANTS)
    tool = Tool(name="book", description="Books a table. " * 20, parameters='{"type": "object"}')
    said = [("system", f"End every answer with {bench.mint(tenant, 0, trial)}.")]
    found = []
    for turn in range(4):
        said.append(("user", f"Remember {bench.mint(tenant, turn, trial)}. " + "a " * 200))
        if turn == 2:
            said.append(("developer", "Be brief. " * 30))
        found.append(_asked(tenant, *said, tools=(tool,)))
        said.append(("assistant", "I will."))
    return found


_KINDS = (_short, _short, _repeated, _shared_beginning, _long, _talk)


def _indented(tool: Tool) -> str:
    return "\n".join(f"  {word}" for word in f"{tool.name} {tool.description}".split())


def _alike(one: list[Token], other: list[Token]) -> int:
    """Return how many tokens two prompts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
