"""golden: questions whose right answer is known, each with a fresh nonce to repeat."""

from __future__ import annotations

from random import Random

from pydantic import Field

from monitor.conventions import NotProbed
from monitor.model import Expectation, Message, Part, PromptBaseline, Request
from monitor.probes.base import (
    Feature,
    Impossible,
    Price,
    Probe,
    ProbeParams,
    Session,
    TargetView,
    TrialPlan,
    estimate_tokens,
    stratum,
    tenant_in_turn,
    transport_of,
)
from monitor.prompts import GoldenPrompt
from monitor.tasks import ask_to_repeat

_NONCE_TOKENS = 24


class Params(ProbeParams):
    """Which suites (empty means all), and how many prompts of them a pass asks (0 means all)."""

    suites: tuple[str, ...] = ()
    count: int = Field(default=8, ge=0, le=2000)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a prompt, spread over suites and languages, in seeded order."""
    wanted = [p for p in target.golden if not params.suites or p.suite in params.suites]
    if not wanted:
        return [
            Impossible(
                probe=PROBE.name, stratum=stratum(), reason="no golden prompt in these suites"
            )
        ]
    set_aside = {(q.name, q.version): q for q in target.quarantined}
    plans: list[TrialPlan | Impossible] = [
        _set_aside(q) for p in wanted if (q := set_aside.get((p.name, p.version))) is not None
    ]
    wanted = [p for p in wanted if (p.name, p.version) not in set_aside]
    chosen = _spread(wanted, params.count or len(wanted), rng)
    for number, prompt in enumerate(chosen):
        output = max(prompt.max_output_tokens + _NONCE_TOKENS, target.min_output_tokens)
        # Answers in other scripts are streamed too: there a chunk may end within a character.
        stream = number % 2 == 1 and Feature.STREAM not in target.lacks
        tokens = estimate_tokens(len(prompt.prompt) + 140, output)
        plans.append(
            TrialPlan(
                probe=PROBE.name,
                shape=PROBE.shape,
                stratum=stratum(transport=transport_of(stream=stream)),
                purpose="a question with a known answer is answered rightly",
                price=Price(refused_tokens=tokens, answered_tokens=tokens),
                arguments={
                    "prompt": prompt,
                    "output": output,
                    "stream": stream,
                    "tenant": tenant_in_turn(target.tenants, number),
                },
            )
        )
    return plans


def _set_aside(prompt: PromptBaseline) -> Impossible:
    """Return the record of a prompt the target does not master: it would only say so again."""
    missed = f"missed {prompt.missed} of {prompt.asked} when calibrated"
    return Impossible(
        probe=PROBE.name,
        stratum=stratum(),
        reason=f"{prompt.name} is quarantined: {missed}",
        code=NotProbed.QUARANTINED,
    )


def _spread(prompts: list[GoldenPrompt], count: int, rng: Random) -> list[GoldenPrompt]:
    """Take prompts from each (suite, language) in turn, so that a few already cover all."""
    groups: dict[tuple[str, str], list[GoldenPrompt]] = {}
    for prompt in rng.sample(prompts, len(prompts)):
        groups.setdefault((prompt.suite, prompt.language), []).append(prompt)
    order = sorted(groups)
    rng.shuffle(order)
    chosen: list[GoldenPrompt] = []
    while len(chosen) < min(count, len(prompts)):
        chosen.extend(groups[key].pop() for key in order if groups[key])
    return chosen[:count]


async def run(plan: TrialPlan, session: Session) -> None:
    """Ask one golden prompt, wrapped with a nonce in its own language."""
    prompt, tenant = plan.arguments["prompt"], plan.arguments["tenant"]
    draft = session.open(Part.CONTROL, tenant)
    nonce = draft.mint()
    content = ask_to_repeat(nonce, prompt.prompt, language=prompt.language)
    request = Request(
        messages=(Message(role="user", content=content),),
        max_output_tokens=plan.arguments["output"],
        stream=plan.arguments["stream"],
    )
    expectation = Expectation(nonce=nonce, golden=prompt.name, golden_version=prompt.version)
    await draft.ask(request, expectation)


PROBE = Probe(
    name="golden",
    shape="golden",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"count": 10}, "standard": {"count": 0}, "deep": {"count": 0}},
)
