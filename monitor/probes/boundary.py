"""boundary: prompts just under and just over every known limit, after donors have been there.

What leaks at a boundary belongs to earlier ordinary requests, so donors go first, with texts that
fill more than one page of the cache. Their two sizes also give the ruler by which the victim's
prompt is cut to length. Sizes come from declared and discovered limits only.
"""

from __future__ import annotations

from random import Random
from typing import Any, Literal

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
)

OUTPUT_TOKENS = 128
# contracts 4: some engines count template and output tokens; eight more for the unforeseen.
BAND_MARGIN_TOKENS = 8
OVER_TOKENS = 64
DONOR_BLOCKS = (2, 5)
_DONOR_TOKENS = 1100
_PLACES = ("head", "middle", "tail")
_SMALLEST_LIMIT_TOKENS = 600


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
        _plan_side(target, limit, side, rng)
        for _ in range(params.rounds)
        for limit in sorted(target.limits, key=lambda limit: limit.tokens)
        for side in params.sides
    ]


def _plan_side(
    target: TargetView, limit: TokenLimit, side: str, rng: Random
) -> TrialPlan | Impossible:
    victims = target.victims() or target.tenants
    victim = rng.choice(victims)
    donors = [donor for donor in target.donors() if donor.name != victim.name]
    cell = stratum(length=f"{side}-{limit.tokens}", tenants="pair" if donors else "one")
    if limit.tokens < _SMALLEST_LIMIT_TOKENS:
        reason = f"a limit of {limit.tokens} tokens leaves no room for needles and filler"
        return Impossible(probe=PROBE.name, stratum=cell, reason=reason)
    answered = limit.tokens + _DONOR_TOKENS + OUTPUT_TOKENS
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=cell,
        purpose=(
            f"a prompt just {side} the limit of {limit.tokens} tokens is "
            + ("refused" if side == "over" else "read whole")
        ),
        price=Price(
            refused_tokens=_DONOR_TOKENS if side == "over" else answered,
            answered_tokens=answered,
        ),
        budget=BudgetKind.BOUNDARY,
        arguments={
            "limit": limit,
            "side": side,
            "victim": victim,
            "donor": rng.choice(donors) if donors else victim,
        },
    )


async def run(plan: TrialPlan, session: Session) -> None:
    """Let the donor go first, measure its tokens, then stand the victim at the limit."""
    donations = [
        await _donate(plan.arguments["donor"], session, blocks) for blocks in DONOR_BLOCKS
    ]
    ruler = _ruler(donations)
    await _stand(plan, session, ruler)


def _ruler(donations: list[Exchange]) -> Ruler:
    points = [
        (blocks * len(SENTENCES), donation.response.usage.input_tokens)
        for blocks, donation in zip(DONOR_BLOCKS, donations, strict=True)
        if donation.response and donation.response.usage.input_tokens
    ]
    characters = 520
    if len(points) < len(DONOR_BLOCKS):
        return assumed_ruler(characters)
    small, large = points
    return measured_ruler(small, large) or assumed_ruler(characters)


async def _donate(tenant: TenantView, session: Session, blocks: int) -> Exchange:
    """Send an ordinary prompt of whole blocks, full of the donor's own markers."""
    draft = session.open(Part.DONOR, tenant)
    request, expectation = _long_prompt(draft, session.target, blocks * len(SENTENCES))
    return await draft.ask(request, expectation)


async def _stand(plan: TrialPlan, session: Session, ruler: Ruler) -> Exchange:
    limit, side, tenant = (plan.arguments[key] for key in ("limit", "side", "victim"))
    wanted = _wanted_tokens(limit.tokens, side, ruler, session.target)
    sentences = ruler.sentences(wanted)
    if side == "over":
        sentences += 1
    draft = session.open(Part.VICTIM, tenant)
    request, expectation = _long_prompt(
        draft,
        session.target,
        sentences,
        limit_tokens=limit.tokens,
        limit_source=limit.source,
        size_tokens=ruler.tokens(sentences),
        size_error_tokens=ruler.error(wanted),
        boundary=side,
        truncation_accepted=session.target.truncation_accepted and side == "over",
    )
    return await draft.ask(request, expectation)


def _wanted_tokens(limit: int, side: str, ruler: Ruler, target: TargetView) -> int:
    """Return the size to aim at: outside the band of contracts 4, the ruler's error included."""
    if side == "over":
        over = limit + OVER_TOKENS
        return over + ruler.error(over)
    under = limit - max(OUTPUT_TOKENS, target.min_output_tokens) - BAND_MARGIN_TOKENS
    return under - ruler.error(under)


def _long_prompt(
    draft: Draft, target: TargetView, sentences: int, **stands: Any
) -> tuple[Request, Expectation]:
    """Return filler with three needles, a nonce, and the question for all four."""
    nonce = draft.mint()
    needles = [draft.mint(planted=True) for _ in _PLACES]
    lines = [
        f"Note: the pass phrase of the {place} gate is {needle}."
        for place, needle in zip(_PLACES, needles, strict=True)
    ]
    question = (
        f"\n\nThe reference code of this ticket is {nonce}. Please repeat the reference code. "
        "Then give the pass phrases of the head gate, the middle gate and the tail gate, "
        "one per line."
    )
    request = Request(
        messages=(Message(role="user", content=with_needles(sentences, lines) + question),),
        max_output_tokens=max(OUTPUT_TOKENS, target.min_output_tokens),
    )
    planted = tuple(
        Needle(place=place, text=needle) for place, needle in zip(_PLACES, needles, strict=True)
    )
    return request, Expectation(nonce=nonce, needles=planted, **stands)


PROBE = Probe(
    name="boundary",
    shape="boundary",
    params=Params,
    plan=plan,
    run=run,
    # Long prefills hold back other people's requests.
    gentle=False,
    presets={"quick": {}, "standard": {"rounds": 2}, "deep": {"rounds": 4}},
)
