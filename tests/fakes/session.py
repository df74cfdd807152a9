"""A session without a network: a model that knows what is expected, or answers by a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from monitor.model import (
    Exchange,
    Expectation,
    Failure,
    FailureKind,
    Part,
    Request,
    ToolCall,
    ValueKind,
)
from monitor.probes.base import TargetView, TenantView, TrialPlan
from tests.builders import Bench, an_exchange

Answer = Callable[[Request, Expectation], Exchange | str]
CHARACTERS_PER_TOKEN = 4
# How a model writes a call before an engine's parser takes it out of the text.
_CALL = re.compile(r"<call>(.*?)</call>", re.DOTALL)


def perfect(request: Request, expectation: Expectation) -> str:
    """Return the answer of a model that does everything it is asked; at length if it may."""
    if expectation.counts_to:
        return counted(request, expectation.counts_to)
    if replace(expectation, border_input="") == Expectation():
        return " ".join(str(number) for number in range(request.max_output_tokens * 2))
    parts = [expectation.nonce or ""]
    parts += [fact.any_of[0] for fact in expectation.answers]
    if expectation.tool:
        tool = next(tool for tool in request.tools if tool.name == expectation.tool)
        arguments = json.dumps(_filled(tool.parameters, parts))
        parts = [f"<call>{json.dumps({'name': tool.name, 'arguments': arguments})}</call>"]
    elif request.json_schema:
        parts = [json.dumps(_filled(request.json_schema, parts))]
    parts += [needle.text for needle in expectation.needles]
    parts += [expectation.obey.any_of[0]] if expectation.obey else []
    return "\n".join(parts)


def counted(request: Request, last: int) -> str:
    """Return a count to the last number, or to what the request stops at; 5 characters a number."""
    whole = "".join(f"{number:>4}," for number in range(1, last + 1))
    return whole.partition(request.stop)[0] if request.stop else whole


def _filled(schema: str, values: list[str]) -> dict[str, object]:
    """Return an object with the values in the order of the schema's properties."""
    properties = json.loads(schema)["properties"].items()
    return {
        name: int(value) if inner["type"] == "integer" else value
        for (name, inner), value in zip(properties, values, strict=False)
    }


@dataclass
class FakeSession:
    """Implements ``Session``: mints from a bench, answers at once, keeps every exchange."""

    bench: Bench
    plan: TrialPlan
    target: TargetView
    answer: Answer = perfect
    rng: Random = field(default_factory=lambda: Random(5))
    exchanges: list[Exchange] = field(default_factory=list)
    opened: int = 0

    counts: bool = False

    async def count_tokens(self, text: str, tenant: TenantView) -> int | None:
        return len(text) // CHARACTERS_PER_TOKEN if self.counts else None

    def open(self, part: Part, tenant: TenantView) -> FakeDraft:
        self.opened += 1
        return FakeDraft(self, self.opened - 1, part, tenant)


@dataclass
class FakeDraft:
    session: FakeSession
    index: int
    part: Part
    tenant: TenantView

    def mint(self, *, planted: bool = False) -> str:
        return self._mint("planted" if planted else "nonce")

    def plant(self, kind: ValueKind) -> str:
        return self._mint(kind)

    def _mint(self, kind: str) -> str:
        return self.session.bench.mint(self.tenant.name, self.index, trial="trial-now", kind=kind)

    async def ask(self, request: Request, expectation: Expectation) -> Exchange:
        said = self.session.answer(request, expectation)
        exchange = said if isinstance(said, Exchange) else self._parsed(request, expectation, said)
        self.session.exchanges.append(exchange)
        return exchange

    def _parsed(self, request: Request, expectation: Expectation, said: str) -> Exchange:
        """Return what an engine makes of a model's text; a request to hang up cuts it."""
        calls = [ToolCall(**json.loads(call)) for call in _CALL.findall(said)]
        text = _CALL.sub("", said)
        finish = "tool_calls" if calls else "stop"
        if len(said) > request.max_output_tokens * CHARACTERS_PER_TOKEN:
            text, finish = text[: request.max_output_tokens * CHARACTERS_PER_TOKEN], "length"
        exchange = an_exchange(
            request.text(),
            text[: len(text) // 2] if request.hang_up else text,
            index=self.index,
            part=self.part,
            tenant=self.tenant.name,
            response={
                "tool_calls": tuple(calls),
                "finish_reason": None if request.hang_up else finish,
            },
            usage={
                "input_tokens": max(4, len(request.text()) // CHARACTERS_PER_TOKEN),
                "output_tokens": min(len(said) // 3, request.max_output_tokens),
            },
        )
        exchange = replace(exchange, request=request, expectation=expectation)
        if not request.hang_up:
            return exchange
        cancelled = Failure(kind=FailureKind.CANCELLED, detail="broken off as asked")
        return replace(exchange, failure=cancelled)
