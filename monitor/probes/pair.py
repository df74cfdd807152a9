"""pair: the same request streamed and not, calls cut short, forms beside text, roles, counts.

Each kind sets two requests beside each other whose answers a healthy target does not tell apart:
by the transport, by what shares their batch, or by the message that holds what matters.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Literal

from pydantic import Field

from monitor.longtext import filler
from monitor.model import Exchange, Expectation, Fact, Message, Part, Request
from monitor.probes.asking import (
    ROWS,
    SAMPLE_CODE,
    ask_with_code,
    code_and_task,
    coded_lookup,
    expected_tokens,
    output_tokens,
)
from monitor.probes.base import (
    Draft,
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
from monitor.probes.calling import (
    CALL_ANSWER_TOKENS,
    CALL_OUTPUT_TOKENS,
    TOOLS_TOKENS,
    ask_to_call,
    call_request,
    draw_call,
)
from monitor.probes.counting import count_aloud, counting_price, counting_together
from monitor.tasks import addition, ask_to_repeat, end_with, fill_form, lookup, recall_code

Kind = Literal["text", "call", "form", "cut", "batch", "roles", "counts"]
KINDS: tuple[Kind, ...] = ("text", "call", "form", "cut", "batch", "roles", "counts")
_NEEDS: dict[Kind, tuple[Feature, ...]] = {
    "text": (Feature.STREAM,),
    "call": (Feature.STREAM, Feature.TOOLS),
    "form": (Feature.STREAM, Feature.JSON_SCHEMA),
    "cut": (Feature.TOOLS,),
    "batch": (Feature.JSON_SCHEMA,),
    "roles": (Feature.SYSTEM_ROLE,),
    "counts": (),
}
_PURPOSE: dict[Kind, str] = {
    "text": "a text comes streamed as it comes whole",
    "call": "a tool call comes streamed as it comes whole",
    "form": "a JSON answer comes streamed as it comes whole",
    "cut": "a tool call that the allowed tokens cut says that it was cut",
    "batch": "a JSON answer and a plain one, asked at once, do not disturb each other",
    "roles": "system, developer and assistant messages are read, wherever they stand",
    "counts": "each request is held to its own limit and stop string, and counted as all others",
}
_FEATURE_WORDS = {
    Feature.STREAM: "streaming",
    Feature.TOOLS: "tools",
    Feature.JSON_SCHEMA: "JSON Schema",
    Feature.SYSTEM_ROLE: "system messages",
    Feature.DEVELOPER_ROLE: "developer messages",
    Feature.STOP: "stop strings",
}
# Where a call is cut, in shares of the tokens that it took whole: within its arguments.
CUTS = (0.5, 0.7, 0.9)
# The text a role's message holds: long enough for its tokens to be told from anything else.
ROLE_SENTENCES = 18
_FORM_TOKENS = 134


class Params(ProbeParams):
    """Which kinds of pairs a pass sends, and how often each."""

    kinds: tuple[Kind, ...] = Field(default=KINDS, min_length=1)
    rounds: int = Field(default=1, ge=1, le=32)


def plan(target: TargetView, params: Params, rng: Random) -> list[TrialPlan | Impossible]:
    """Return one trial a kind and round, tenants taken in turn."""
    start = rng.randrange(len(target.tenants))
    return [
        _plan(target, kind, start + number)
        for number in range(params.rounds)
        for kind in params.kinds
    ]


def _plan(target: TargetView, kind: Kind, start: int) -> TrialPlan | Impossible:
    tenants = tuple(target.tenants[(start + k) % len(target.tenants)] for k in range(2))
    cell = _cell(kind, target)
    missing = next((feature for feature in _NEEDS[kind] if feature in target.lacks), None)
    if missing is not None:
        reason = f"needs {_FEATURE_WORDS[missing]}, which this target lacks by configuration"
        return Impossible(probe=PROBE.name, stratum=cell, reason=reason)
    if kind == "cut" and target.min_output_tokens >= CALL_OUTPUT_TOKENS * CUTS[0]:
        reason = f"no answer may be cut below {target.min_output_tokens} tokens here"
        return Impossible(probe=PROBE.name, stratum=cell, reason=reason)
    tokens = _price(kind, target)
    return TrialPlan(
        probe=PROBE.name,
        shape=PROBE.shape,
        stratum=cell,
        purpose=_PURPOSE[kind],
        price=Price(refused_tokens=tokens, answered_tokens=tokens),
        arguments={"kind": kind, "tenants": tenants, "start": start},
    )


def _cell(kind: Kind, target: TargetView) -> str:
    both = "both" if Feature.STREAM not in target.lacks else "plain"
    if kind == "batch":
        return stratum(concurrency=2, tenants=_tenants(target))
    if kind == "roles":
        return stratum(length="pages")
    if kind == "counts":
        together, tenants = counting_together(target), _tenants(target)
        return stratum(length="mixed", concurrency=together, transport=both, tenants=tenants)
    return stratum(transport=both)


def _tenants(target: TargetView) -> str:
    return "pair" if len(target.tenants) > 1 else "one"


def _price(kind: Kind, target: TargetView) -> int:
    text = expected_tokens(_lookup_text())
    form = expected_tokens(fill_form(SAMPLE_CODE, SAMPLE_CODE), _FORM_TOKENS)
    asking = ask_to_call("sort_invoice_1000", SAMPLE_CODE, SAMPLE_CODE)
    asked = expected_tokens(asking, TOOLS_TOKENS)
    call = asked + CALL_ANSWER_TOKENS
    question = ask_to_repeat(SAMPLE_CODE, "What is 12 + 30?")
    ruled = expected_tokens(f"{_rules(0, SAMPLE_CODE)} {question}")
    return {
        "text": 2 * text,
        "call": 2 * call,
        "form": 2 * form,
        "cut": call + sum(asked + round(CALL_ANSWER_TOKENS * share) for share in CUTS),
        "batch": form + text,
        "roles": expected_tokens(question) + (len(_roles(target)) + 2) * ruled,
        "counts": counting_price(target),
    }[kind]


def _lookup_text() -> str:
    return ask_to_repeat(SAMPLE_CODE, lookup(Random(0), (SAMPLE_CODE,) * ROWS).question)


async def run(plan: TrialPlan, session: Session) -> None:
    """Send the requests of one kind."""
    kind: Kind = plan.arguments["kind"]
    one, other = plan.arguments["tenants"]
    match kind:
        case "cut":
            await _cut(session, one)
        case "batch":
            await asyncio.gather(_form(session, one), _text(session, other))
        case "roles":
            await _ask_in_roles(session, one)
        case "counts":
            await count_aloud(session, plan.arguments["start"])
        case "text" | "call" | "form":
            await _twice(session, one, kind)


async def _twice(session: Session, tenant: TenantView, kind: Kind) -> None:
    """Ask the very same plainly and as a stream."""
    draft = session.open(Part.MEMBER, tenant)
    request, expectation = _drawn(kind, draft, session)
    first = await draft.ask(request, expectation)
    await session.open(Part.MEMBER, tenant).ask(
        replace(request, stream=True),
        replace(expectation, reference=first.index, comparison="stream"),
    )


def _drawn(kind: Kind, draft: Draft, session: Session) -> tuple[Request, Expectation]:
    if kind == "call":
        task = draw_call(draft, session.rng)
        return call_request(task, session.target), task.expectation
    if kind == "form":
        return _form_request(draft, session.target, session.rng)
    nonce, task_text = draft.mint(), coded_lookup(draft, session.rng)
    return code_and_task(nonce, session.target, task_text)


def _schema(rng: Random) -> str:
    """Return a form whose keys no other form has, so that one in another answer says whose."""
    keys = [f"{name}_{rng.randrange(1000, 10_000)}" for name in ("reference_code", "shelf_code")]
    form = {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": keys,
        "additionalProperties": False,
    }
    return json.dumps(form)


def _form_request(draft: Draft, target: TargetView, rng: Random) -> tuple[Request, Expectation]:
    nonce, code = draft.mint(), draft.mint(planted=True)
    request = Request(
        messages=(Message(role="user", content=fill_form(nonce, code)),),
        max_output_tokens=max(CALL_OUTPUT_TOKENS, target.min_output_tokens),
        json_schema=_schema(rng),
    )
    expectation = Expectation(
        nonce=nonce,
        answers=(Fact(name="the shelf code", any_of=(code,)),),
        answer_bits=64.0,
        answer_task="form",
    )
    return request, expectation


async def _form(session: Session, tenant: TenantView) -> None:
    draft = session.open(Part.MEMBER, tenant)
    await draft.ask(*_form_request(draft, session.target, session.rng))


async def _text(session: Session, tenant: TenantView) -> None:
    draft = session.open(Part.MEMBER, tenant)
    await ask_with_code(draft, session.target, coded_lookup(draft, session.rng))


async def _cut(session: Session, tenant: TenantView) -> None:
    """Ask for a call, then for the same with too few tokens: the target must say so.

    Nothing else is expected of a cut answer. Streams and plain answers take turns.
    """
    draft = session.open(Part.MEMBER, tenant)
    task = draw_call(draft, session.rng)
    request = call_request(task, session.target)
    whole = await draft.ask(request, task.expectation)
    for number, tokens in enumerate(cuts(whole, session.target)):
        stream = number % 2 == 0 and Feature.STREAM not in session.target.lacks
        again = replace(request, stream=stream, max_output_tokens=tokens)
        await session.open(Part.MEMBER, tenant).ask(again, Expectation())


def cuts(whole: Exchange, target: TargetView) -> Sequence[int]:
    """Return the tokens to allow so that a call like this one is cut, fewest first."""
    response = whole.response
    if response is None or not whole.whole or not response.tool_calls:
        return ()
    took = min(response.usage.output_tokens or CALL_ANSWER_TOKENS, CALL_OUTPUT_TOKENS)
    least = max(1, target.min_output_tokens)
    return sorted({tokens for share in CUTS if (tokens := round(took * share)) >= least})


async def _ask_in_roles(session: Session, tenant: TenantView) -> None:
    """Ask without the rules, with them in the question, and with them in each role's message.

    The first two measure what the rules take, so that a message that is dropped shows.
    """
    await _ruled(session, tenant, "", ())
    await _ruled(session, tenant, "user", ())
    for role, before in _roles(session.target):
        await _ruled(session, tenant, role, before)
    await _told(session, tenant)


def _roles(target: TargetView) -> list[tuple[str, tuple[Message, ...]]]:
    """Return each role with the messages that come before its own."""
    greeting = (
        Message(role="user", content="Hello."),
        Message(role="assistant", content="Hello."),
    )
    roles: list[tuple[str, tuple[Message, ...]]] = [("system", ()), ("system", greeting)]
    if Feature.DEVELOPER_ROLE not in target.lacks:
        roles.append(("developer", ()))
    return roles


async def _ruled(
    session: Session, tenant: TenantView, role: str, before: tuple[Message, ...]
) -> None:
    draft = session.open(Part.MEMBER, tenant)
    nonce, task = draft.mint(), addition(session.rng)
    question = ask_to_repeat(nonce, task.question)
    code = draft.mint(planted=True) if role else ""
    rules = _rules(session.rng.randrange(10**9), code) if role else ""
    expectation = Expectation(
        nonce=nonce, answers=task.answers, answer_bits=task.answer_bits, answer_task=task.kind
    )
    if role in ("", "user"):
        messages = [Message(role="user", content=f"{rules}\n\n{question}".strip())]
    else:
        messages = [*before, Message(role=role, content=rules)]
        messages.append(Message(role="user", content=question))
        obey = Fact(name=f"the code the {role} message asks for", any_of=(code,))
        expectation = replace(expectation, obey=obey, obey_role=role)
    request = Request(
        messages=tuple(messages), max_output_tokens=output_tokens(session.target) * 3 // 2
    )
    await draft.ask(request, expectation)


async def _told(session: Session, tenant: TenantView) -> None:
    """Ask for what nothing but an earlier answer says, after a text as long as the rules."""
    draft = session.open(Part.MEMBER, tenant)
    place, nonce, code = session.rng.randrange(11, 99), draft.mint(), draft.mint(planted=True)
    answer = f'{_reading(session.rng.randrange(10**9))}\nThe code of locker {place} is "{code}".'
    question = ask_to_repeat(nonce, recall_code(place, code).question)
    request = Request(
        messages=(
            Message(role="user", content="Hello."),
            Message(role="assistant", content=answer),
            Message(role="user", content=question),
        ),
        max_output_tokens=output_tokens(session.target),
    )
    told = Fact(name="the code the earlier answer tells", any_of=(code,))
    await draft.ask(request, Expectation(nonce=nonce, obey=told, obey_role="assistant"))


def _rules(number: int, code: str) -> str:
    """Return a long message with an instruction at its end, and a number that no other has."""
    return f"{_reading(number)}\n{end_with(code)}"


def _reading(number: int) -> str:
    return f"Notebook {number:09d}.\n{' '.join(filler(ROLE_SENTENCES))}"


PROBE = Probe(
    name="pair",
    shape="pair",
    params=Params,
    plan=plan,
    run=run,
    presets={
        "quick": {"kinds": ("call", "batch", "roles", "counts")},
        "standard": {"rounds": 4},
        "deep": {"rounds": 8},
    },
)
