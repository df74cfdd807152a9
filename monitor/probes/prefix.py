"""prefix: two requests with one long beginning and different endings, one after the other."""

from __future__ import annotations

from random import Random

from pydantic import Field

from monitor.longtext import SENTENCE_CHARACTERS, filler
from monitor.model import Part
from monitor.probes.asking import TASK_CHARACTERS, ask_with_code, coded_lookup, output_tokens
from monitor.probes.base import (
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TrialPlan,
    estimate_tokens,
    stratum,
)


class Params(ProbeParams):
    """How many pairs a pass sends, and how long the shared beginning is (in sentences)."""

    pairs: int = Field(default=1, ge=1, le=64)
    sentences: int = Field(default=24, ge=4, le=4000)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a pair of requests; two tenants share the beginning if there are two."""
    tenants = "pair" if len(target.tenants) > 1 else "one"
    characters = params.sentences * SENTENCE_CHARACTERS + TASK_CHARACTERS
    tokens = 2 * estimate_tokens(characters, output_tokens(target))
    start = rng.randrange(len(target.tenants))
    return [
        TrialPlan(
            probe=PROBE.name,
            shape=PROBE.shape,
            stratum=stratum(length="pages", cache="warm", tenants=tenants),
            purpose="a shared beginning does not bring another request's ending with it",
            price=Price(refused_tokens=tokens, answered_tokens=tokens),
            arguments={"sentences": params.sentences, "start": start + number},
        )
        for number in range(params.pairs)
    ]


async def run(plan: TrialPlan, session: Session) -> None:
    """Send the pair, strictly one after the other."""
    tenants = session.target.tenants
    # A salt of the trial's own keeps the beginning cold for the first request.
    salt = f"Logbook {session.rng.randrange(10**9):09d}."
    beginning = " ".join([salt, *filler(plan.arguments["sentences"])])
    for number in range(2):
        draft = session.open(
            Part.MEMBER, tenants[(plan.arguments["start"] + number) % len(tenants)]
        )
        task = coded_lookup(draft, session.rng)
        await ask_with_code(draft, session.target, task, system=beginning)


PROBE = Probe(
    name="prefix",
    shape="prefix",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"pairs": 1}, "standard": {"pairs": 3}, "deep": {"pairs": 12}},
)
