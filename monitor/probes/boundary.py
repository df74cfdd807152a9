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

from monitor.longtext import SENTENCES, Ruler
from monitor.model import Exchange, Part
from monitor.probes.base import (
    BudgetKind,
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TokenLimit,
    TrialPlan,
    stratum,
    transport_of,
)
from monitor.probes.ladder import run_rung
from monitor.probes.standing import (
    OUTPUT_TOKENS,
    SMALLEST_LIMIT_TOKENS,
    donate,
    donor_blocks,
    donor_tokens,
    largest_under,
    long_text,
    reported_tokens,
    request,
    ruler_of,
    smallest_over,
    template_tokens,
)


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
    if limit.tokens < SMALLEST_LIMIT_TOKENS:
        reason = f"a limit of {limit.tokens} tokens leaves no room for needles and filler"
        return Impossible(probe=PROBE.name, stratum=cell, reason=reason)
    donors_tokens = sum(map(donor_tokens, donor_blocks(limit.tokens)))
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
    if "rung" in plan.arguments:
        await run_rung(plan, session)
        return
    sizes = donor_blocks(plan.arguments["limit"].tokens)
    donations = [await donate(plan.arguments["donor"], session, blocks) for blocks in sizes]
    ruler = ruler_of(
        [
            (blocks * len(SENTENCES), reported_tokens(donation))
            for blocks, donation in zip(sizes, donations, strict=True)
        ]
    )
    await _stand(plan, session, ruler, await template_tokens(session, donations[-1]))


async def _stand(plan: TrialPlan, session: Session, ruler: Ruler, template: int | None) -> Exchange:
    limit, side, tenant = (plan.arguments[key] for key in ("limit", "side", "victim"))
    wanted = _wanted_tokens(limit.tokens, side, ruler, session.target)
    sentences = ruler.sentences(wanted) + (side == "over")
    draft = session.open(Part.VICTIM, tenant)
    content, planted = long_text(draft, sentences, session.rng)
    size, error = ruler.tokens(sentences), ruler.error(wanted)
    if template is not None:
        counted = await session.count_tokens(content, tenant)
        if counted is not None:
            size, error = counted + template, 0
    expectation = replace(
        planted,
        limit_tokens=limit.tokens,
        limit_source=limit.source,
        size_tokens=size,
        size_error_tokens=error,
        boundary=side,
        truncation_accepted=session.target.truncation_accepted,
    )
    long_request = request(content, session.target, stream=plan.arguments["stream"])
    return await draft.ask(long_request, expectation)


def _wanted_tokens(limit: int, side: str, ruler: Ruler, target: TargetView) -> int:
    """Return the size to aim at: outside the band, the ruler's error included."""
    return smallest_over(limit, ruler) if side == "over" else largest_under(limit, ruler, target)


PROBE = Probe(
    name="boundary",
    shape="boundary",
    params=Params,
    plan=plan,
    run=run,
    at_limits=True,
    presets={"quick": {}, "standard": {"rounds": 2}, "deep": {"rounds": 4}},
)
