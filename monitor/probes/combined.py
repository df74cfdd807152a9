"""combined: shapes together, in cells of a pairwise plan; single shapes alone are often clean.

Public faults mostly need two shapes at once: a burst over one shared beginning, sessions of two
tenants that return under load. The cells cover every pair of values of every two axes (length,
cache, concurrency, tenants, transport) in as few trials as that takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Literal

from covertable import make
from pydantic import Field

from monitor.longtext import filler
from monitor.model import Part
from monitor.probes.asking import (
    ANSWER_TOKENS,
    SAMPLE_CODE,
    a_lookup,
    ask_with_code,
    code_and_task,
    coded_lookup,
    expected_tokens,
)
from monitor.probes.base import (
    Feature,
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TenantView,
    TrialPlan,
    stratum,
)
from monitor.probes.calling import ask_for_call
from monitor.probes.conversation import Conversation, Step, Talk
from monitor.tasks import ask_to_repeat, end_with, recall_code, tell_code

# A call and two tools in the prompt, in tokens (measured: 435 and less).
CALL_TOKENS = 440
# Bursts from here on, and sessions that return, can hurt a target that serves users.
HARSH_CONCURRENCY = 16
# What comes between a session's first turn and its return.
LOAD_PROMPTS = 2
_PAGES_SENTENCES = 24
_LONG_SENTENCES = 400
# The long beginning takes no more than this share of the smallest limit, so that all fits.
_LONG_SHARE = 0.25
_TOKENS_PER_SENTENCE = 12
_CACHES = ("cold", "warm", "returning")
_TRANSPORTS = {"plain": None, "stream": Feature.STREAM, "tools": Feature.TOOLS}


class Params(ProbeParams):
    """How many members at once to combine with, and how many cells a pass takes (0: all)."""

    concurrency: tuple[int, ...] = Field(default=(1, 2, 3, 8), min_length=1, max_length=8)
    cells: int = Field(default=0, ge=0, le=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One combination: a value of every axis."""

    length: Literal["short", "pages", "long"]
    cache: Literal["cold", "warm", "returning"]
    concurrency: int
    tenants: Literal["one", "pair"]
    transport: Literal["plain", "stream", "tools"]

    @property
    def gentle(self) -> bool:
        """True if it can be asked of a target that serves users."""
        return self.cache != "returning" and self.concurrency < HARSH_CONCURRENCY

    @property
    def stratum(self) -> str:
        """The id of the stratum this is."""
        return stratum(
            length=self.length,
            concurrency=self.concurrency,
            cache=self.cache,
            transport=self.transport,
            tenants=self.tenants,
        )


def cells(target: TargetView, concurrency: Sequence[int]) -> list[Cell]:
    """Return cells that hold every possible pair of values of every two axes."""
    transports = tuple(name for name, needs in _TRANSPORTS.items() if needs not in target.lacks)
    tenants = ("one", "pair") if len(target.tenants) > 1 else ("one",)
    return list(_covering(tuple(dict.fromkeys(concurrency)), tenants, transports))


@cache
def _covering(
    concurrency: tuple[int, ...], tenants: tuple[str, ...], transports: tuple[str, ...]
) -> tuple[Cell, ...]:
    """Return the covering cells; kept, for they take tens of milliseconds and are alike."""
    axes: Mapping[str, Sequence[object]] = {
        "length": ["short", "pages", "long"],
        "cache": _CACHES,
        "concurrency": concurrency,
        "tenants": tenants,
        "transport": transports,
    }
    rows = make(
        axes,
        constraints=[
            {"operator": "fn", "requires": ["length", "cache"], "evaluate": _has_what_to_share},
            {"operator": "fn", "requires": ["tenants", "concurrency"], "evaluate": _has_a_pair},
        ],
    )
    return tuple(Cell(**row) for row in rows)


def _has_what_to_share(row: Mapping[str, object]) -> bool:
    """A warm cache needs a beginning to share."""
    return not (row["cache"] == "warm" and row["length"] == "short")


def _has_a_pair(row: Mapping[str, object]) -> bool:
    """Two tenants need two members."""
    return not (row["tenants"] == "pair" and row["concurrency"] == 1)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a cell; a pass that takes fewer draws them anew each time."""
    every = cells(target, params.concurrency)
    chosen = rng.sample(every, min(params.cells or len(every), len(every)))
    return [_plan_one(target, cell, rng.randrange(len(target.tenants))) for cell in chosen]


def _plan_one(target: TargetView, cell: Cell, start: int) -> TrialPlan:
    tokens = _price(target, cell)
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=cell.stratum,
        purpose="shapes that are clean alone are clean together",
        price=Price(refused_tokens=tokens, answered_tokens=tokens),
        gentle=cell.gentle,
        arguments={"cell": cell, "start": start},
    )


async def run(plan: TrialPlan, session: Session) -> None:
    """Warm the cache or open the sessions if the cell says so, then let all members ask at once."""
    cell: Cell = plan.arguments["cell"]
    members = [_Member(session, cell, tenant) for tenant in _tenants(plan, session.target)]
    if cell.cache == "warm":
        shared = members[0].beginning
        for member in members:
            member.beginning = shared
        await members[0].ask(Part.DONOR)
    if cell.cache != "returning":
        await asyncio.gather(*(member.ask(Part.MEMBER) for member in members))
        return
    for member in members:
        await member.start()
    load = [_Member(session, cell, member.tenant) for member in members[:LOAD_PROMPTS]]
    await asyncio.gather(*(member.ask(Part.CONTROL) for member in load))
    await asyncio.gather(*(member.come_back() for member in members))


def _tenants(plan: TrialPlan, target: TargetView) -> list[TenantView]:
    cell: Cell = plan.arguments["cell"]
    start, step = plan.arguments["start"], 1 if cell.tenants == "pair" else 0
    pair = [target.tenants[(start + n * step) % len(target.tenants)] for n in range(2)]
    return [pair[number % 2] for number in range(cell.concurrency)]


class _Member:
    """One of those who ask at once, with randomness of its own: they wait for one another."""

    def __init__(self, session: Session, cell: Cell, tenant: TenantView) -> None:
        self.tenant = tenant
        self._session = session
        self._cell = cell
        self._rng = Random(session.rng.getrandbits(64))
        self._streams = cell.transport == "stream"
        self.beginning = _beginning(session.target, cell, self._rng)
        self._talk: Talk | None = None

    async def ask(self, part: Part) -> None:
        """Ask once, after the beginning."""
        target, rng = self._session.target, self._rng
        draft = self._session.open(part, self.tenant)
        if self._cell.transport == "tools":
            await ask_for_call(draft, target, rng, system=self.beginning)
            return
        task = coded_lookup(draft, rng)
        await ask_with_code(draft, target, task, system=self.beginning, stream=self._streams)

    async def start(self) -> None:
        """Open a session: tell it a code."""
        conversation = Conversation(
            session=self._session,
            tenant=self.tenant,
            rng=self._rng,
            system=self.beginning,
            stream=self._streams,
        )
        self._talk = Talk(conversation)
        await self._talk.take(Step.TELL)

    async def come_back(self) -> None:
        """Take the session up again: it must still know the code."""
        if self._talk is None:
            return
        await self._talk.take(Step.RECALL)
        if self._cell.transport == "tools":
            await self._talk.take(Step.CALL)


def _sentences(target: TargetView, cell: Cell) -> int:
    if cell.length == "short":
        return 0
    if cell.length == "pages":
        return _PAGES_SENTENCES
    smallest = min((limit.tokens for limit in target.limits), default=None)
    if smallest is None:
        return _LONG_SENTENCES
    fits = int(smallest * _LONG_SHARE) // _TOKENS_PER_SENTENCE
    return max(_PAGES_SENTENCES, min(fits, _LONG_SENTENCES))


def _beginning(target: TargetView, cell: Cell, rng: Random) -> str:
    """Return what stands before the question; its first line is like no other's."""
    sentences = _sentences(target, cell)
    if not sentences:
        return ""
    return " ".join([f"Ledger {rng.randrange(10**9):09d}.", *filler(sentences)])


def _price(target: TargetView, cell: Cell) -> int:
    """Return what a cell costs: every member's exchanges, and what comes before them."""
    beginning = _beginning(target, cell, Random(0))
    before = expected_tokens(beginning, 0) if beginning else 0
    once = before + _ask_tokens(target, cell)
    if cell.cache != "returning":
        return once * (cell.concurrency + (cell.cache == "warm"))
    told = ask_to_repeat(SAMPLE_CODE, tell_code(11, SAMPLE_CODE).question)
    recalled = ask_to_repeat(SAMPLE_CODE, recall_code(11, SAMPLE_CODE).question)
    first = before + expected_tokens(f"{end_with(SAMPLE_CODE)} {told}")
    back = first + expected_tokens(recalled)
    each = first + back
    if cell.transport == "tools":
        # The call, and the tool's result to report, after all that was said before.
        each += 2 * (back + CALL_TOKENS) + ANSWER_TOKENS
    return each * cell.concurrency + once * min(LOAD_PROMPTS, cell.concurrency)


def _ask_tokens(target: TargetView, cell: Cell) -> int:
    if cell.transport == "tools":
        return CALL_TOKENS
    task = a_lookup(Random(0), lambda: SAMPLE_CODE)
    request, _ = code_and_task(SAMPLE_CODE, target, task)
    return expected_tokens(request.text())


PROBE = Probe(
    name="combined",
    shape="combined",
    params=Params,
    plan=plan,
    run=run,
    presets={
        "quick": {"concurrency": (2,), "cells": 1},
        "standard": {"concurrency": (1, 2, 3, 8)},
        "deep": {"concurrency": (1, 2, 3, 5, 8, 16, 32)},
    },
)
