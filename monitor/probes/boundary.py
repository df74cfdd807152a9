"""boundary: prompts just under and just over every known limit, after donors have been there.

What leaks at a boundary belongs to earlier ordinary requests, so donors go first, with texts that
fill more than one page of the cache. Their two sizes also give the ruler by which the victim's
prompt is cut to length. Sizes come from declared and discovered limits only.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Literal

from pydantic import Field

from monitor.longtext import SENTENCES, Ruler, assumed_ruler, measured_ruler, with_needles
from monitor.model import Exchange, Expectation, Message, Needle, Part, Request
from monitor.probes.base import (
    BudgetKind,
    Draft,
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

OUTPUT_TOKENS = 128
# In the band [limit - output - this, limit] an engine may answer or refuse: some count template
# and output tokens. Outside it there is one right thing to do.
BAND_MARGIN_TOKENS = 8
OVER_TOKENS = 64
SMALL_DONOR_BLOCKS = 2
# The larger donor has about 3 % of the limit: long enough to extrapolate from, cheap beside it.
_LEAST_LARGE_BLOCKS = 10
_LIMIT_TOKENS_PER_BLOCK = 2500
_BLOCK_TOKENS = 90
_PROMPT_TOKENS = 150
_OVERHEAD_CHARACTERS = 520
_PLACES = ("head", "middle", "tail")
_SMALLEST_LIMIT_TOKENS = 1400


class Params(ProbeParams):
    """Sides of each limit to stand on, and rounds of donors and victim."""

    sides: tuple[Literal["over", "under"], ...] = ("over", "under")
    rounds: int = Field(default=1, ge=1, le=16)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial for each side of each limit, smallest limit first."""
    if not target.limits:
        return [
            Impossible(
                probe=PROBE.name,
                stratum=stratum(length="under", tenants="pair"),
                reason="no limit is declared or discovered: set context_tokens",
            )
        ]
    return [
        _plan_side(target, limit, side, rng, stream=(number % 2 == 0) == (side == "over"))
        for number in range(params.rounds)
        for limit in sorted(target.limits, key=lambda limit: limit.tokens)
        for side in params.sides
    ]


def _plan_side(
    target: TargetView, limit: TokenLimit, side: str, rng: Random, *, stream: bool
) -> TrialPlan | Impossible:
    victims = target.victims() or target.tenants
    victim = rng.choice(victims)
    others = [donor for donor in target.donors() if donor.name != victim.name]
    cell = stratum(
        length=f"{side}-{limit.tokens}",
        transport=transport_of(stream=stream),
        tenants="pair" if others else "one",
    )
    if limit.tokens < _SMALLEST_LIMIT_TOKENS:
        reason = f"a limit of {limit.tokens} tokens leaves no room for needles and filler"
        return Impossible(probe=PROBE.name, stratum=cell, reason=reason)
    donors_tokens = sum(
        blocks * _BLOCK_TOKENS + _PROMPT_TOKENS + OUTPUT_TOKENS
        for blocks in donor_blocks(limit.tokens)
    )
    answered = limit.tokens + donors_tokens + OUTPUT_TOKENS
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=cell,
        purpose=(
            f"a prompt just {side} the limit of {limit.tokens} tokens is "
            + ("refused" if side == "over" else "read whole")
        ),
        price=Price(
            refused_tokens=donors_tokens if side == "over" else answered,
            answered_tokens=answered,
        ),
        budget=BudgetKind.BOUNDARY,
        arguments={
            "limit": limit,
            "side": side,
            "stream": stream,
            "victim": victim,
            "donor": rng.choice(others) if others else victim,
        },
    )


async def run(plan: TrialPlan, session: Session) -> None:
    """Let the donor go first, measure its tokens, then stand the victim at the limit."""
    sizes = donor_blocks(plan.arguments["limit"].tokens)
    donations = [await _donate(plan.arguments["donor"], session, blocks) for blocks in sizes]
    ruler = _ruler(sizes, donations)
    await _stand(plan, session, ruler, await _template_tokens(session, donations[-1]))


def donor_blocks(limit_tokens: int) -> tuple[int, int]:
    """Return the sizes of the two donors of a limit, in filler blocks."""
    return SMALL_DONOR_BLOCKS, max(_LEAST_LARGE_BLOCKS, limit_tokens // _LIMIT_TOKENS_PER_BLOCK)


def _ruler(sizes: tuple[int, int], donations: list[Exchange]) -> Ruler:
    points = [
        (blocks * len(SENTENCES), donation.response.usage.input_tokens)
        for blocks, donation in zip(sizes, donations, strict=True)
        if donation.response and donation.response.usage.input_tokens
    ]
    if len(points) < len(sizes):
        return assumed_ruler(_OVERHEAD_CHARACTERS)
    small, large = points
    return measured_ruler(small, large) or assumed_ruler(_OVERHEAD_CHARACTERS)


async def _template_tokens(session: Session, donation: Exchange) -> int | None:
    """Return what the target's template adds to a prompt, if the target counts for us."""
    reported = donation.response.usage.input_tokens if donation.response else None
    tenant = next(t for t in session.target.tenants if t.name == donation.tenant)
    counted = await session.count_tokens(donation.request.text(), tenant)
    if reported is None or counted is None:
        return None
    return max(0, reported - counted)


async def _donate(tenant: TenantView, session: Session, blocks: int) -> Exchange:
    """Send an ordinary prompt of whole blocks, full of the donor's own markers."""
    draft = session.open(Part.DONOR, tenant)
    content, planted = _long_text(draft, blocks * len(SENTENCES), session.rng)
    return await draft.ask(_request(content, session.target), planted)


async def _stand(
    plan: TrialPlan, session: Session, ruler: Ruler, template_tokens: int | None
) -> Exchange:
    limit, side, tenant = (plan.arguments[key] for key in ("limit", "side", "victim"))
    wanted = _wanted_tokens(limit.tokens, side, ruler, session.target)
    sentences = ruler.sentences(wanted) + (side == "over")
    draft = session.open(Part.VICTIM, tenant)
    content, planted = _long_text(draft, sentences, session.rng)
    size, error = ruler.tokens(sentences), ruler.error(wanted)
    if template_tokens is not None:
        counted = await session.count_tokens(content, tenant)
        if counted is not None:
            size, error = counted + template_tokens, 0
    expectation = replace(
        planted,
        limit_tokens=limit.tokens,
        limit_source=limit.source,
        size_tokens=size,
        size_error_tokens=error,
        boundary=side,
        truncation_accepted=session.target.truncation_accepted,
    )
    request = _request(content, session.target, stream=plan.arguments["stream"])
    return await draft.ask(request, expectation)


def _wanted_tokens(limit: int, side: str, ruler: Ruler, target: TargetView) -> int:
    """Return the size to aim at: outside the band, the ruler's error included."""
    if side == "over":
        over = limit + OVER_TOKENS
        return over + ruler.error(over)
    under = limit - max(OUTPUT_TOKENS, target.min_output_tokens) - BAND_MARGIN_TOKENS
    return under - ruler.error(under)


def _long_text(draft: Draft, sentences: int, rng: Random) -> tuple[str, Expectation]:
    """Return filler with three needles, a nonce, the question for all four, and their answers."""
    nonce = draft.mint()
    needles = tuple(Needle(place=place, text=draft.mint(planted=True)) for place in _PLACES)
    lines = [f"Note: the pass phrase of the {n.place} gate is {n.text}." for n in needles]
    question = (
        f"\n\nThe reference code of this ticket is {nonce}. Please repeat the reference code. "
        "Then give the pass phrases of the head gate, the middle gate and the tail gate, "
        "one per line."
    )
    return with_needles(sentences, lines, rng) + question, Expectation(nonce=nonce, needles=needles)


def _request(content: str, target: TargetView, *, stream: bool = False) -> Request:
    return Request(
        stream=stream,
        messages=(Message(role="user", content=content),),
        max_output_tokens=max(OUTPUT_TOKENS, target.min_output_tokens),
    )


PROBE = Probe(
    name="boundary",
    shape="boundary",
    params=Params,
    plan=plan,
    run=run,
    at_limits=True,
    presets={"quick": {}, "standard": {"rounds": 2}, "deep": {"rounds": 4}},
)
