"""What most shapes ask in one exchange: repeat a fresh code, and do one small task."""

from __future__ import annotations

from random import Random

from monitor.model import Exchange, Expectation, Message, Request
from monitor.probes.base import Draft, TargetView
from monitor.tasks import Task, ask_to_repeat, lookup

OUTPUT_TOKENS = 72
# A prompt of a code and a task, in characters, for stating prices.
TASK_CHARACTERS = 360
ROWS = 3


def output_tokens(target: TargetView) -> int:
    """Return the output tokens a code and a task are allowed."""
    return max(OUTPUT_TOKENS, target.min_output_tokens)


def coded_lookup(draft: Draft, rng: Random) -> Task:
    """Return a lookup whose codes are registered markers of this exchange.

    Another exchange's answer is then recognised wherever it turns up.
    """
    return lookup(rng, tuple(draft.mint(planted=True) for _ in range(ROWS)))


async def ask_with_code(
    draft: Draft, target: TargetView, task: Task, *, system: str = "", stream: bool = False
) -> Exchange:
    """Ask for a fresh code and the task's answer, after a system message if one is given."""
    nonce = draft.mint()
    messages = [Message(role="system", content=system)] if system else []
    messages.append(Message(role="user", content=ask_to_repeat(nonce, task.question)))
    request = Request(
        messages=tuple(messages), max_output_tokens=output_tokens(target), stream=stream
    )
    expectation = Expectation(
        nonce=nonce, answers=task.answers, answer_bits=task.answer_bits, answer_task=task.kind
    )
    return await draft.ask(request, expectation)
