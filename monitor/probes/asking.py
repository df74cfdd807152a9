"""What most shapes ask in one exchange: repeat a fresh code, and do one small task."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

from monitor.model import Exchange, Expectation, Message, Request
from monitor.probes.base import Draft, Feature, TargetView
from monitor.tasks import Task, ask_to_repeat, lookup, place_in_list, sealed_sum

OUTPUT_TOKENS = 72
# A prompt of a code and a task, in characters, for stating prices.
TASK_CHARACTERS = 360
ROWS = 3
# The engine that keeps apart by a field of its own what must not share a cache.
SALTING_ENGINE = "vllm"
# Prices assume this of a tokenizer: a code takes up to 12 tokens (measured: 11 to 12), other text
# 3.4 characters a token (measured: 3.5 to 5, denser tokenizers cost less), the chat template 14,
# and an answer of a code and a task 34. Should a target use more, its own report is what counts.
CODE_TOKENS = 12
CHARACTERS_PER_TOKEN = 3.4
TEMPLATE_TOKENS = 14
ANSWER_TOKENS = 34
# Stands for a code where only a price is wanted.
SAMPLE_CODE = "babab-babab-babab-babab"
_CODE = re.compile(r"\b[a-z]{5}(?:-[a-z]{5}){3}\b")

Mint = Callable[[], str]
TaskKind = Callable[[Random, Mint], Task]


def output_tokens(target: TargetView) -> int:
    """Return the output tokens a code and a task are allowed."""
    return max(OUTPUT_TOKENS, target.min_output_tokens)


def expected_tokens(text: str, answer_tokens: int = ANSWER_TOKENS) -> int:
    """Return the price of asking ``text`` once: what a target is expected to count at most."""
    rest, codes = _CODE.subn("", text)
    prose = len(rest) / CHARACTERS_PER_TOKEN
    return round(prose + codes * CODE_TOKENS + TEMPLATE_TOKENS + answer_tokens)


def a_lookup(rng: Random, mint: Mint) -> Task:
    """Return a lookup in a list of its own."""
    return lookup(rng, tuple(mint() for _ in range(ROWS)))


def a_sealed_sum(rng: Random, mint: Mint) -> Task:
    """Return a sum with a seal of its own."""
    return sealed_sum(rng, mint())


def a_place_in_list(rng: Random, mint: Mint) -> Task:
    """Return the question for one end of a list of its own."""
    return place_in_list(rng, tuple(mint() for _ in range(ROWS)))


# Kinds of task whose answers are registered markers: another exchange's answer is then recognised
# wherever it turns up.
TASK_KINDS: tuple[TaskKind, ...] = (a_lookup, a_sealed_sum, a_place_in_list)


def planted_by(draft: Draft) -> Mint:
    """Return what mints the codes of a task: registered markers of this exchange."""
    return lambda: draft.mint(planted=True)


def coded_lookup(draft: Draft, rng: Random) -> Task:
    """Return a lookup whose codes are registered markers of this exchange.

    Another exchange's answer is then recognised wherever it turns up.
    """
    return a_lookup(rng, planted_by(draft))


def code_and_task(
    nonce: str, target: TargetView, task: Task, *, system: str = "", stream: bool = False
) -> tuple[Request, Expectation]:
    """Return what asks for a code and the task's answer, and what is then expected.

    Where a target lacks system messages their text leads the question; where it cannot stream the
    answer comes at once.
    """
    question = ask_to_repeat(nonce, task.question)
    request = Request(
        messages=messages_for(target, system, question),
        max_output_tokens=output_tokens(target),
        stream=stream and Feature.STREAM not in target.lacks,
    )
    expectation = Expectation(
        nonce=nonce, answers=task.answers, answer_bits=task.answer_bits, answer_task=task.kind
    )
    return request, expectation


def messages_for(target: TargetView, system: str, question: str) -> tuple[Message, ...]:
    """Return the messages of one question, after a system message if one is given."""
    if not system:
        return (Message(role="user", content=question),)
    if Feature.SYSTEM_ROLE in target.lacks:
        return (Message(role="user", content=f"{system}\n\n{question}"),)
    return (Message(role="system", content=system), Message(role="user", content=question))


async def ask_with_code(
    draft: Draft, target: TargetView, task: Task, *, system: str = "", stream: bool = False
) -> Exchange:
    """Ask for a fresh code and the task's answer, after a system message if one is given."""
    request, expectation = code_and_task(draft.mint(), target, task, system=system, stream=stream)
    return await draft.ask(request, expectation)


def salted(request: Request, target: TargetView, rng: Random) -> Request:
    """Return the request so that no cache knows it: by the engine's own salt, or a first line."""
    number = rng.randrange(10**9)
    if target.engine == SALTING_ENGINE:
        return replace(request, cache_salt=f"{number:09d}")
    first, *rest = request.messages
    changed = replace(first, content=f"Sheet {number:09d}.\n{first.content}")
    return replace(request, messages=(changed, *rest))
