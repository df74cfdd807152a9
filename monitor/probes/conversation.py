"""A conversation with one tenant: every turn sends the whole history again, as clients do.

What a later turn asks for stands only in earlier turns, so an answer shows whether the target still
has them. One code stands in nothing but an answer, which is of our writing so that it stands there
whatever the model can do: clients choose what they send as earlier answers. Probes compose
conversations with one another and with bursts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random

from monitor.model import (
    Exchange,
    Expectation,
    Fact,
    Message,
    Part,
    Request,
    Response,
    Tool,
    ToolCall,
)
from monitor.probes.asking import (
    SAMPLE_CODE,
    TEMPLATE_TOKENS,
    expected_tokens,
    output_tokens,
)
from monitor.probes.base import Draft, Feature, Session, TargetView, TenantView
from monitor.probes.calling import (
    CALL_ANSWER_TOKENS,
    TOOLS_TOKENS,
    ask_to_call,
    call_output_tokens,
    draw_call,
)
from monitor.tasks import (
    Task,
    add_to_list,
    add_to_total,
    ask_to_repeat,
    end_with,
    give_code,
    recall_code,
    recall_given,
    start_total,
    tell_code,
)

LEAST_TURNS, MOST_TURNS = 3, 8
# What of an answer goes back to the target: enough for any right one.
ANSWER_CHARACTERS = 1000
NO_TEXT = "(no text)"
_ITEMS = ("lemon", "candle", "rope", "spoon", "blanket", "kettle", "compass", "lantern", "soap")
_AND_REPORT = "Then repeat the receipt code that the tool returns."

TaskMaker = Callable[[Draft], Task]


@dataclass(kw_only=True)
class Conversation:
    """What was said so far, and whether it can go on.

    ``system`` is put before an instruction with a code of this conversation, which every answer
    must obey; where the target has no system role there is neither. ``ended`` is true once a turn
    got no answer: there is nothing to continue from, and nothing more is sent.
    """

    session: Session
    tenant: TenantView
    rng: Random
    system: str = ""
    part: Part = Part.TURN
    stream: bool = False
    turn: int = 0
    ended: bool = False
    _history: list[Message] = field(default_factory=list)
    _obey: Fact | None = None
    _tools: tuple[Tool, ...] = ()

    def add(self, asked: str, answered: str) -> None:
        """Add a turn that is not taken: what was asked, and what the target is said to answer."""
        self._history.append(Message(role="user", content=asked))
        self._history.append(Message(role="assistant", content=answered))

    async def say(self, make: TaskMaker) -> Exchange | None:
        """Take one turn: a fresh code to repeat, and the task that ``make`` draws for it.

        ``make`` may add turns before it.
        """
        if self.ended:
            return None
        self.turn += 1
        draft = self._open()
        task, nonce = make(draft), draft.mint()
        self._history.append(Message(role="user", content=ask_to_repeat(nonce, task.question)))
        expectation = Expectation(
            nonce=nonce,
            answers=task.answers,
            answer_bits=task.answer_bits,
            answer_task=task.kind,
            turn=self.turn,
        )
        exchange = await self._ask(draft, self._instructed(expectation))
        self._keep(exchange)
        return exchange

    async def call(self) -> None:
        """Take one turn that needs a tool: the call, and then the tool's result to report."""
        if self.ended:
            return
        self.turn += 1
        draft = self._open()
        task = draw_call(draft, self.rng)
        self._tools = task.tools
        self._history.append(Message(role="user", content=f"{task.question} {_AND_REPORT}"))
        exchange = await self._ask(draft, replace(task.expectation, turn=self.turn))
        called = self._keep(exchange)
        if called is not None:
            await self._report(called)

    async def _report(self, called: ToolCall) -> None:
        """Give the tool's result, which holds a fresh code, and let the target report it."""
        draft = self._open()
        nonce = draft.mint()
        self._history.append(Message(role="tool", content=_receipt(nonce), call_id=called.id))
        expectation = Expectation(nonce=nonce, turn=self.turn)
        self._keep(await self._ask(draft, self._instructed(expectation)))

    def _open(self) -> Draft:
        draft = self.session.open(self.part, self.tenant)
        if not self._history and Feature.SYSTEM_ROLE not in self.session.target.lacks:
            code = draft.mint(planted=True)
            self._obey = Fact(name="the code the system message asks for", any_of=(code,))
            content = f"{self.system}\n{end_with(code)}".strip()
            self._history.append(Message(role="system", content=content))
        return draft

    def _instructed(self, expectation: Expectation) -> Expectation:
        return replace(expectation, obey=self._obey, obey_role="system" if self._obey else "")

    async def _ask(self, draft: Draft, expectation: Expectation) -> Exchange:
        target = self.session.target
        allowed = call_output_tokens(target) if expectation.tool else turn_output_tokens(target)
        request = Request(
            messages=tuple(self._history),
            max_output_tokens=allowed,
            stream=self.stream,
            tools=self._tools,
        )
        return await draft.ask(request, expectation)

    def _keep(self, exchange: Exchange) -> ToolCall | None:
        """Add the answer to the history, and return the call in it if it can be answered.

        A call that was not asked for, or is none an API would take back, is left out; what is empty
        then is sent back as few words, for many APIs refuse an empty assistant message.
        """
        response = exchange.response
        if response is None or not exchange.whole or not _says_something(response):
            self.ended = True
            return None
        called = _call_to_answer(response, exchange.expectation.tool)
        text = _bounded(response.text)
        if not text.strip() and called is None:
            text = NO_TEXT
        calls = (called,) if called else ()
        self._history.append(Message(role="assistant", content=text, calls=calls))
        return called


def _receipt(nonce: str) -> str:
    return f"Done. The receipt code is {nonce}."


class Step(StrEnum):
    """What one turn is about."""

    TELL = "tell"
    GIVEN = "given"
    CALL = "call"
    TOTAL = "total"
    ITEM = "item"
    RECALL = "recall"


_SAMPLES = {
    Step.TELL: ask_to_repeat(SAMPLE_CODE, tell_code(10, SAMPLE_CODE).question),
    Step.GIVEN: ask_to_repeat(SAMPLE_CODE, recall_given(SAMPLE_CODE).question),
    Step.CALL: f"{ask_to_call('sort_invoice_1000', SAMPLE_CODE, SAMPLE_CODE)} {_AND_REPORT}",
    Step.TOTAL: ask_to_repeat(SAMPLE_CODE, add_to_total(10, 100).question),
    Step.ITEM: ask_to_repeat(SAMPLE_CODE, add_to_list("blanket", ()).question),
    Step.RECALL: ask_to_repeat(SAMPLE_CODE, recall_code(10, SAMPLE_CODE).question),
}
_SAMPLE_ANSWER = f"\n{SAMPLE_CODE}\n{SAMPLE_CODE}\n{SAMPLE_CODE}\n"
_SAMPLE_CALL = f"sort_invoice_1000 reference_code {SAMPLE_CODE} shelf_code {SAMPLE_CODE}" + " " * 20
_TURN_ANSWER_TOKENS = 40
_SAMPLE_GIVEN = "".join(give_code(SAMPLE_CODE))
_MIDDLE = (Step.TOTAL, Step.CALL, Step.TOTAL, Step.ITEM, Step.ITEM)


def agenda(turns: int, target: TargetView) -> tuple[Step, ...]:
    """Return the steps of so many turns: a code is told first and asked for last.

    What an answer gave is asked for just before. Its added turn makes the history longer by two
    turns at once, so turns that were sent whole must come before: who drops a history from some
    turn on shows by counts that fall.
    """
    middle = [s for s in _MIDDLE if s is not Step.CALL or Feature.TOOLS not in target.lacks]
    between = [*middle, *middle][: turns - 3]
    return (Step.TELL, *between, Step.GIVEN, Step.RECALL)


class Talk:
    """The state that a conversation's turns build up, and ask for."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._rng = conversation.rng
        self._place = self._rng.randrange(11, 99)
        self._code = ""
        self._given = ""
        self._total: int | None = None
        self._items: tuple[str, ...] = ()

    async def take(self, step: Step) -> None:
        """Take one turn."""
        if step is Step.CALL:
            await self.conversation.call()
        else:
            await self.conversation.say(lambda draft: self._task(step, draft))

    def _task(self, step: Step, draft: Draft) -> Task:
        match step:
            case Step.TELL:
                self._code = draft.mint(planted=True)
                return tell_code(self._place, self._code)
            case Step.GIVEN:
                return self._ask_given(draft)
            case Step.TOTAL:
                return self._next_total()
            case Step.ITEM:
                left = [item for item in _ITEMS if item not in self._items]
                self._items = (*self._items, self._rng.choice(left))
                return add_to_list(self._items[-1], self._items)
            case _:
                return recall_code(self._place, self._code)

    def _ask_given(self, draft: Draft) -> Task:
        if not self._given:
            self._given = draft.mint(planted=True)
            self.conversation.add(*give_code(self._given))
        return recall_given(self._given)

    def _next_total(self) -> Task:
        number = self._rng.randint(12, 79)
        if self._total is None:
            self._total = number
            return start_total(number)
        self._total += number
        return add_to_total(number, self._total)


def agenda_tokens(steps: tuple[Step, ...], system: str = "") -> int:
    """Return the price of a conversation: every turn pays for the whole history again."""
    history, total, besides = f"{system} {end_with(SAMPLE_CODE)}", 0, 0
    for number, step in enumerate(steps):
        if step is Step.GIVEN and step not in steps[:number]:
            history += _SAMPLE_GIVEN
            besides += TEMPLATE_TOKENS
        history += _SAMPLES[step]
        if step is Step.CALL:
            besides += TOOLS_TOKENS
            total += expected_tokens(history, besides + CALL_ANSWER_TOKENS)
            history += _SAMPLE_CALL + _receipt(SAMPLE_CODE)
        total += expected_tokens(history, besides + _TURN_ANSWER_TOKENS)
        history += _SAMPLE_ANSWER
    return total


def turn_output_tokens(target: TargetView) -> int:
    """Return the output tokens a turn is allowed: two codes, and the one that ends it."""
    return output_tokens(target) + output_tokens(target) // 2


def _says_something(response: Response) -> bool:
    return bool(response.text.strip() or response.tool_calls)


def _call_to_answer(response: Response, wanted: str) -> ToolCall | None:
    for number, call in enumerate(response.tool_calls):
        if wanted and call.name == wanted and _is_object(call.arguments):
            return replace(
                call, arguments=_bounded(call.arguments), id=_bounded(call.id) or f"call-{number}"
            )
    return None


def _is_object(arguments: str) -> bool:
    if len(arguments) > ANSWER_CHARACTERS:
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _bounded(text: str) -> str:
    """Return text of the target's that can be sent back: short, and without half characters."""
    return text[:ANSWER_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
