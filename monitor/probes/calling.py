"""Tools to call: offered with names of their own, one to be called with codes of this exchange.

Names are drawn from a space of millions, so that the members of a burst are offered different
tools, and the codes are registered markers: another member's call is recognised wherever it turns
up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random

from monitor.model import Exchange, Expectation, Fact, Request, Tool
from monitor.probes.asking import messages_for
from monitor.probes.base import Draft, Feature, TargetView

CALL_OUTPUT_TOKENS = 96
# Tokens of the tools offered and of a call, as measured, for stating prices.
TOOLS_TOKENS = 330
CALL_ANSWER_TOKENS = 76
CALL_TASK = "call"
TOOLS = 2
_VERBS = ("file", "log", "send", "store", "track", "move", "check", "book", "sort", "print")
# No word of another question, so that only the one that asks for a call speaks of a tool.
_THINGS = ("parcel", "report", "stamp", "crate", "letter", "pallet", "order", "invoice")
_PARAMETERS = json.dumps(
    {
        "type": "object",
        "properties": {
            "reference_code": {"type": "string", "description": "the reference code"},
            "shelf_code": {"type": "string", "description": "the shelf code"},
        },
        "required": ["reference_code", "shelf_code"],
        "additionalProperties": False,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTask:
    """Tools to offer, the words that ask to call one of them, and the call that is right."""

    tools: tuple[Tool, ...]
    question: str
    expectation: Expectation


def call_output_tokens(target: TargetView) -> int:
    """Return the output tokens a call is allowed."""
    return max(CALL_OUTPUT_TOKENS, target.min_output_tokens)


def draw_call(draft: Draft, rng: Random) -> CallTask:
    """Return two tools and the request to call one of them with two codes of this exchange."""
    tools = tuple(_tool(rng) for _ in range(TOOLS))
    wanted = rng.choice(tools)
    nonce, shelf = draft.mint(), draft.mint(planted=True)
    return CallTask(
        tools=tools,
        question=ask_to_call(wanted.name, nonce, shelf),
        expectation=Expectation(
            nonce=nonce,
            answers=(Fact(name="the shelf code", any_of=(shelf,)),),
            answer_bits=64.0,
            answer_task=CALL_TASK,
            tool=wanted.name,
        ),
    )


def ask_to_call(name: str, nonce: str, shelf: str) -> str:
    """Return the words that ask for a call."""
    return (
        f"Please call the tool {name}. "
        f'The reference code is "{nonce}". The shelf code is "{shelf}".'
    )


def call_request(
    task: CallTask, target: TargetView, *, system: str = "", stream: bool = False
) -> Request:
    """Return the request for a call; the model itself decides to call, as agents let it."""
    return Request(
        messages=messages_for(target, system, task.question),
        max_output_tokens=call_output_tokens(target),
        stream=stream and Feature.STREAM not in target.lacks,
        tools=task.tools,
    )


async def ask_for_call(
    draft: Draft, target: TargetView, rng: Random, *, system: str = "", stream: bool = False
) -> Exchange:
    """Ask for a tool call with a fresh code and a planted one as its arguments."""
    task = draw_call(draft, rng)
    request = call_request(task, target, system=system, stream=stream)
    return await draft.ask(request, task.expectation)


def _tool(rng: Random) -> Tool:
    verb, thing = rng.choice(_VERBS), rng.choice(_THINGS)
    return Tool(
        name=f"{verb}_{thing}_{rng.randrange(1000, 10_000)}",
        description=f"{verb.capitalize()} one {thing}.",
        parameters=_PARAMETERS,
    )
