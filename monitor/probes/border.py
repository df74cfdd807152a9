"""border: short inputs whose first token is undecided, where a change of the model shows first.

At temperature 0 such an input sits on a border between tokens: a small change of weights, kernels
or quantisation gives it a first token that was never seen before (Chauvin et al., *B3IT*, arXiv
2602.11083). Nothing is right or wrong about the answer; what it may begin with is recorded by
calibration. Each trial asks one input once: answers at one moment share one state of the target.
"""

from __future__ import annotations

from random import Random

from pydantic import Field

from monitor.model import Expectation, Message, Part, Request
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

# Which of these are undecided differs by model; together they hold several for most. All are about
# as long (10 to 16 bytes), so that equal counts of their tokens look like no fault of counting.
INPUTS = (
    "Choose a number:",
    "Choose a letter:",
    "Name a colour.",
    "Name an animal.",
    "Name a city.",
    "Say a word.",
    "Heads or tails?",
    "Left or right?",
    "Tea or coffee?",
    "The weather",
    "Once upon a",
    "In the end",
    "It seems that",
    "To be honest,",
    "Tell me more",
    "And then what?",
    "1, 4, 2, 8, 5,",
    "选一个数字:",
    "说一个词。",
    "从前有一",
)
# An input that is always answered alike hardly shows a small change. Where a calibration knows at
# least so many that are not, only these are asked, and so more often.
LEAST_UNDECIDED = 5
# The first token is all that is wanted; some APIs allow no fewer than the target's minimum.
OUTPUT_TOKENS = 4


class Params(ProbeParams):
    """How many of the inputs a pass asks, and how often a day the schedule asks each."""

    count: int = Field(default=len(INPUTS), ge=1, le=len(INPUTS))
    samples_a_day: int = Field(default=3, ge=1, le=48)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial an input, in seeded order, tenants taken in turn."""
    output = max(OUTPUT_TOKENS, target.min_output_tokens)
    inputs = [text for text in INPUTS if text in target.undecided]
    if len(inputs) < LEAST_UNDECIDED:
        inputs = list(INPUTS)
    plans: list[TrialPlan | Impossible] = []
    for number, text in enumerate(rng.sample(inputs, min(params.count, len(inputs)))):
        tokens = estimate_tokens(len(text.encode()), output)
        plans.append(
            TrialPlan(
                probe=PROBE.name,
                shape=PROBE.shape,
                stratum=stratum(),
                purpose="an undecided input is answered as it was answered before",
                price=Price(refused_tokens=tokens, answered_tokens=tokens),
                arguments={
                    "input": text,
                    "output": output,
                    "tenant": target.tenants[number % len(target.tenants)],
                },
            )
        )
    return plans


async def run(plan: TrialPlan, session: Session) -> None:
    """Ask one input once."""
    text = plan.arguments["input"]
    draft = session.open(Part.CONTROL, plan.arguments["tenant"])
    request = Request(
        messages=(Message(role="user", content=text),),
        max_output_tokens=plan.arguments["output"],
    )
    await draft.ask(request, Expectation(border_input=text))


def _most_a_day(params: Params) -> float:
    return float(params.count * params.samples_a_day)


PROBE = Probe(
    name="border",
    shape="finger",
    params=Params,
    plan=plan,
    run=run,
    presets={"quick": {"count": 4}, "deep": {"samples_a_day": 10}},
    left_out_of=frozenset({"quick"}),
    most_a_day=_most_a_day,
)
