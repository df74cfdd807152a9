"""boundary: prompts under, over and at every known limit, after donors have been there.

What leaks at a boundary belongs to earlier ordinary requests, so donors go first, with texts that
fill more than one page of the cache. Their two sizes also give the ruler by which the victim's
prompt is cut to length. Sizes come from declared and discovered limits only; those inside the
smallest one find a window that nobody states. A ladder's rungs are run here, too.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Annotated, Literal

from pydantic import Field

from monitor.longtext import SENTENCES, Ruler
from monitor.model import Exchange, Part
from monitor.probes.base import (
    BudgetKind,
    Feature,
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
    output_tokens,
    reported_tokens,
    request,
    ruler_of,
    smallest_over,
    template_tokens,
)

# An inside prompt shorter than this many large donors shows nothing that they do not.
_INSIDE_OF_DONOR = 1.5


class Params(ProbeParams):
    """Where to stand at each limit, which parts of the smallest to stand inside, and how often.

    ``sides``: ``over`` must be refused, ``under`` must be read whole; ``band`` is a size that may
    be refused or read whole, but not shortened. ``inside``: prompts of 1/n of the smallest limit,
    once a pass, where a window that nobody states may end. ``rounds`` of donors and victim.
    """

    sides: tuple[Literal["over", "under", "band"], ...] = ("over", "under")
    inside: tuple[Annotated[int, Field(ge=2, le=64)], ...] = Field(default=(), max_length=4)
    rounds: int = Field(default=1, ge=1, le=16)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial for each side of each limit, smallest limit first, then those inside."""
    if not target.limits:
        return [
            Impossible(
                probe=PROBE.name,
                stratum=stratum(length="under", tenants="pair"),
                reason="no limit is declared or discovered: set context_tokens",
            )
        ]
    limits = sorted(target.limits, key=lambda limit: limit.tokens)
    streams = Feature.STREAM not in target.lacks
    at_limits = [
        _plan_one(
            target,
            limit,
            side,
            rng,
            stream=streams and (number % 2 == 0) == (side == "over"),
        )
        for number in range(params.rounds)
        for limit in limits
        for side in params.sides
    ]
    smallest = limits[0]
    least = _INSIDE_OF_DONOR * donor_tokens(donor_blocks(smallest.tokens)[1])
    return at_limits + [
        _plan_one(target, smallest, "inside", rng, stream=False, tokens=smallest.tokens // part)
        for part in sorted(set(params.inside))
        if smallest.tokens // part > least
    ]


_PURPOSES = {
    "over": "a prompt just over the limit of {} tokens is refused",
    "under": "a prompt just under the limit of {} tokens is read whole",
    "band": "a prompt at the very limit of {} tokens is refused or read whole",
    "inside": "a prompt far below the limit of {} tokens is read whole",
}


def _plan_one(
    target: TargetView,
    limit: TokenLimit,
    side: str,
    rng: Random,
    *,
    stream: bool,
    tokens: int | None = None,
) -> TrialPlan | Impossible:
    victims = target.victims() or target.tenants
    victim = rng.choice(victims)
    others = [donor for donor in target.donors() if donor.name != victim.name]
    size = tokens or limit.tokens
    cell = stratum(
        length=f"{side}-{size}",
        transport=transport_of(stream=stream),
        tenants="pair" if others else "one",
    )
    if limit.tokens < SMALLEST_LIMIT_TOKENS:
        reason = f"a limit of {limit.tokens} tokens leaves no room for needles and filler"
        return Impossible(probe=PROBE.name, stratum=cell, reason=reason)
    donors_tokens = sum(map(donor_tokens, donor_blocks(limit.tokens)))
    answered = size + donors_tokens + OUTPUT_TOKENS
    may_be_refused = side in ("over", "band")
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=cell,
        purpose=_PURPOSES[side].format(limit.tokens),
        price=Price(
            refused_tokens=donors_tokens if may_be_refused else answered,
            answered_tokens=answered,
        ),
        budget=BudgetKind.BOUNDARY,
        arguments={
            "limit": limit,
            "side": side,
            "tokens": size,
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
    wanted = _wanted_tokens(plan, ruler, session.target)
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
        boundary="under" if side == "inside" else side,
        truncation_accepted=session.target.truncation_accepted,
    )
    long_request = request(content, session.target, stream=plan.arguments["stream"])
    return await draft.ask(long_request, expectation)


def _wanted_tokens(plan: TrialPlan, ruler: Ruler, target: TargetView) -> int:
    """Return the size to aim at: out of the band or in its middle, the ruler's error included."""
    side, tokens = plan.arguments["side"], plan.arguments["tokens"]
    if side == "over":
        return smallest_over(tokens, ruler)
    if side == "under":
        return largest_under(tokens, ruler, target)
    if side == "band":
        return int(tokens - output_tokens(target) // 2)
    return int(tokens - ruler.error(tokens))


PROBE = Probe(
    name="boundary",
    shape="boundary",
    params=Params,
    plan=plan,
    run=run,
    at_limits=True,
    presets={
        "quick": {},
        "standard": {"rounds": 2, "inside": (2, 8)},
        "deep": {"rounds": 4, "sides": ("over", "under", "band"), "inside": (2, 4, 8)},
    },
    localising=({"inside": (2, 4, 8, 16)}, {"inside": (32, 64)}),
)
