"""abort: break a long request off, in prefill or in decode, and ask others at once.

What the broken-off request leaves behind is full of planted markers, so whoever is given its pages
before they are clean shows whose they were. A prompt over a small limit is broken off by the target
itself: others are asked right after its refusal, too.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random
from typing import Literal

from pydantic import Field

from monitor.longtext import SENTENCES, filler
from monitor.model import Exchange, Expectation, HangUp, Message, Part, Request
from monitor.probes.asking import (
    ROWS,
    SAMPLE_CODE,
    ask_with_code,
    coded_lookup,
    expected_tokens,
    output_tokens,
)
from monitor.probes.base import (
    BudgetKind,
    Draft,
    Feature,
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TenantView,
    TokenLimit,
    TrialPlan,
    stratum,
    transport_of,
)
from monitor.probes.standing import OUTPUT_TOKENS as LONG_OUTPUT_TOKENS
from monitor.probes.standing import (
    SMALLEST_LIMIT_TOKENS,
    donate,
    donor_blocks,
    donor_tokens,
    long_text,
    reported_tokens,
    request,
    ruler_of,
    smallest_over,
)
from monitor.tasks import ask_to_repeat, lookup

Phase = Literal["prefill", "decode", "over"]
# Passing a larger limit just for what comes after it is too dear: the boundary probe passes it.
SMALL_LIMIT_TOKENS = 16_384
# Where in the time to the first token a prefill is broken off.
SHARE_OF_PREFILL = 0.5
# In a whole answer that is not streamed the prefill ends somewhere before this share.
SHARE_OF_WHOLE = 0.25
# Used where nothing came back to measure by; and the bounds of any measure.
ASSUMED_SECONDS = 0.05
LEAST_SECONDS, MOST_SECONDS = 0.005, 20.0
CHUNKS = 3
# What keeps a decode busy long after the first chunks, and the tokens that takes.
_LONG_JOB = "Count from 1 to 40."
_LONG_JOB_TOKENS = 130
_SENTENCES_A_MARKER = 8


class Params(ProbeParams):
    """Where to break off, how often, and how long the broken-off prompt is (in sentences).

    ``over`` passes the smallest known limit once, if that is at most 16,384 tokens.
    """

    phases: tuple[Phase, ...] = Field(default=("prefill", "decode"), min_length=1)
    rounds: int = Field(default=1, ge=1, le=32)
    sentences: int = Field(default=96, ge=8, le=8000)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a phase; decode cannot be broken off where nothing streams.

    Where no limit is small enough, ``over`` is left to the probe of boundaries.
    """
    pairs = [(d, v) for d in target.donors() for v in target.victims() if d.name != v.name]
    donor, victim = rng.choice(pairs) if pairs else (target.tenants[0], target.tenants[0])
    plans = [
        _plan(target, params, phase, donor, victim) for phase in params.phases if phase != "over"
    ]
    limit = min((limit.tokens for limit in target.limits), default=0)
    if "over" in params.phases and SMALLEST_LIMIT_TOKENS <= limit <= SMALL_LIMIT_TOKENS:
        plans.append(_plan_over(target, donor, victim))
    if plans:
        return plans
    reason = f"no limit from {SMALLEST_LIMIT_TOKENS} to {SMALL_LIMIT_TOKENS} tokens is known"
    return [Impossible(probe=PROBE.name, stratum=stratum(length="over"), reason=reason)]


def _plan_over(target: TargetView, donor: TenantView, victim: TenantView) -> TrialPlan:
    limit = min(target.limits, key=lambda limit: limit.tokens)
    around = sum(map(donor_tokens, donor_blocks(limit.tokens))) + 2 * _after_tokens()
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=stratum(
            length=f"over-{limit.tokens}",
            concurrency=2,
            tenants="pair" if donor.name != victim.name else "one",
        ),
        purpose=(
            f"what is asked after a prompt over the limit of {limit.tokens} tokens has none of it"
        ),
        price=Price(
            refused_tokens=around, answered_tokens=around + limit.tokens + LONG_OUTPUT_TOKENS
        ),
        budget=BudgetKind.BOUNDARY,
        gentle=False,
        arguments={"phase": "over", "donor": donor, "victim": victim, "limit": limit},
    )


def _plan(
    target: TargetView, params: Params, phase: Phase, donor: TenantView, victim: TenantView
) -> TrialPlan | Impossible:
    stream = phase == "decode"
    cell = stratum(
        length="pages",
        concurrency=2,
        transport=transport_of(stream=stream),
        tenants="pair" if donor.name != victim.name else "one",
    )
    if stream and Feature.STREAM in target.lacks:
        reason = "needs streaming: an answer that comes whole cannot be broken off in between"
        return Impossible(probe=PROBE.name, stratum=cell, reason=reason)
    tokens = params.rounds * _round_tokens(params.sentences)
    if phase == "decode":
        tokens += params.rounds * _LONG_JOB_TOKENS
    else:
        tokens += _long_tokens(params.sentences)
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=cell,
        purpose=f"what is asked after a request was broken off in {phase} has none of its text",
        price=Price(refused_tokens=tokens, answered_tokens=tokens),
        gentle=False,
        arguments={"phase": phase, "donor": donor, "victim": victim, "params": params},
    )


def _long_tokens(sentences: int) -> int:
    codes = [SAMPLE_CODE] * len(range(0, sentences, _SENTENCES_A_MARKER))
    return expected_tokens(_content(sentences, [*codes, SAMPLE_CODE], 0))


def _round_tokens(sentences: int) -> int:
    """Return the price of one request that is broken off, and of the two right after it."""
    return _long_tokens(sentences) + 2 * _after_tokens()


def _after_tokens() -> int:
    task = lookup(Random(0), (SAMPLE_CODE,) * ROWS)
    return expected_tokens(ask_to_repeat(SAMPLE_CODE, task.question))


async def run(plan: TrialPlan, session: Session) -> None:
    """Measure a prefill if one is to be broken off; then break off and ask, round by round."""
    donor, victim, phase = (plan.arguments[key] for key in ("donor", "victim", "phase"))
    if phase == "over":
        await _pass_limit(session, donor, plan.arguments["limit"])
        await _ask_others(session, victim, donor)
        return
    params = plan.arguments["params"]
    if phase == "decode":
        hang_up = HangUp(after_chunks=CHUNKS)
    else:
        hang_up = HangUp(after_seconds=await _measure(session, donor, params.sentences))
    for _ in range(params.rounds):
        draft = session.open(Part.DONOR, donor)
        stream = phase == "decode"
        await _ask_long(draft, session, params.sentences, stream=stream, hang_up=hang_up)
        await _ask_others(session, victim, donor)


async def _pass_limit(session: Session, tenant: TenantView, limit: TokenLimit) -> None:
    """Send a prompt over the limit, measured by two ordinary ones; it is to be refused."""
    sizes = donor_blocks(limit.tokens)
    points = [
        (blocks * len(SENTENCES), reported_tokens(await donate(tenant, session, blocks)))
        for blocks in sizes
    ]
    ruler = ruler_of(points)
    wanted = smallest_over(limit.tokens, ruler)
    sentences = ruler.sentences(wanted) + 1
    draft = session.open(Part.DONOR, tenant)
    content, planted = long_text(draft, sentences, session.rng)
    expectation = replace(
        planted,
        limit_tokens=limit.tokens,
        limit_source=limit.source,
        size_tokens=ruler.tokens(sentences),
        size_error_tokens=ruler.error(wanted),
        boundary="over",
        truncation_accepted=session.target.truncation_accepted,
    )
    await draft.ask(request(content, session.target), expectation)


async def _ask_others(session: Session, *tenants: TenantView) -> None:
    """Ask every tenant something ordinary, all at once."""
    await asyncio.gather(*(_ask_after(tenant, session) for tenant in tenants))


async def _measure(session: Session, tenant: TenantView, sentences: int) -> float:
    """Return the seconds after which a prompt of this length is in the middle of its prefill."""
    stream = Feature.STREAM not in session.target.lacks
    draft = session.open(Part.CONTROL, tenant)
    exchange = await _ask_long(draft, session, sentences, stream=stream, hang_up=None)
    return prefill_seconds(exchange)


def prefill_seconds(exchange: Exchange) -> float:
    """Return where to break off a prompt like this one."""
    first = exchange.timing.first_token_seconds
    if first is not None:
        seconds = first * SHARE_OF_PREFILL
    elif exchange.whole:
        seconds = exchange.timing.total_seconds * SHARE_OF_WHOLE
    else:
        seconds = ASSUMED_SECONDS
    return min(max(seconds, LEAST_SECONDS), MOST_SECONDS)


async def _ask_long(
    draft: Draft, session: Session, sentences: int, *, stream: bool, hang_up: HangUp | None
) -> Exchange:
    """Ask for a code after a long text full of planted markers, all of this exchange's own."""
    markers = [draft.mint(planted=True) for _ in range(0, sentences, _SENTENCES_A_MARKER)]
    nonce = draft.mint()
    decode = hang_up is not None and hang_up.after_chunks is not None
    content = _content(
        sentences,
        [*markers, nonce],
        session.rng.randrange(10**9),
        job=_LONG_JOB if decode else "",
    )
    allowed = output_tokens(session.target) + (_LONG_JOB_TOKENS if decode else 0)
    asked = Request(
        messages=(Message(role="user", content=content),),
        max_output_tokens=allowed,
        stream=stream,
        hang_up=hang_up,
    )
    return await draft.ask(asked, Expectation(nonce=nonce))


def _content(sentences: int, codes: list[str], salt: int, job: str = "") -> str:
    """Return the long text; ``salt`` keeps it out of every cache. The last code is the nonce."""
    *markers, nonce = codes
    lines = filler(sentences)
    for number, marker in reversed(list(enumerate(markers))):
        lines.insert(number * _SENTENCES_A_MARKER, f"Box {number + 1} holds the paper {marker}.")
    return f"Logbook {salt:09d}. {' '.join(lines)}\n\n{ask_to_repeat(nonce, job)}"


async def _ask_after(tenant: TenantView, session: Session) -> None:
    draft = session.open(Part.VICTIM, tenant)
    await ask_with_code(draft, session.target, coded_lookup(draft, session.rng))


PROBE = Probe(
    name="abort",
    shape="abort",
    params=Params,
    plan=plan,
    run=run,
    presets={
        "quick": {"sentences": 48},
        "standard": {"phases": ("prefill", "decode", "over"), "rounds": 2},
        "deep": {"phases": ("prefill", "decode", "over"), "rounds": 6, "sentences": 384},
    },
)
