"""Asking another target for a second opinion, at its own cost and bound to its own budget.

The judge has one word and no more: it can call a golden answer WRONG, in a lane of its own, and
what it says is never enough for a page. Nothing that looks odd is passed on to it. A judge that
fails is left alone for a while, so that its outage costs few of the target's exchanges.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from monitor.budget import Budget
from monitor.clock import Clock
from monitor.engines.base import Engine
from monitor.judge.items import Item
from monitor.judge.question import Question, both_orders
from monitor.judge.record import Record
from monitor.judge.trust import Agreement, Said
from monitor.model import Exchange, Measurement, Trial
from monitor.prompts import GoldenPrompt
from monitor.prompts.answers import without_code

log = logging.getLogger(__name__)

CODE = "JUDGE"
# A judge that did not answer is asked again after so long.
REST_SECONDS = 300.0
LONGEST_WAIT_SECONDS = 60.0
# What pays for a judge: the ordinary budget of its own target.
BUDGET = "ordinary"
# Generous: English packs four bytes or more into a token, Chinese three.
_BYTES_PER_TOKEN = 3
_TEMPLATE_TOKENS = 24
_RESTS = "the judge failed a short while ago"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTarget:
    """The target that judges, and how to speak to it."""

    name: str
    engine: Engine
    credential: str | None
    timeout_seconds: float
    min_output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What a judge said, or why it said nothing.

    It is ``down`` if it gave no answer at all, and was ``unasked`` if its budget cannot pay for
    one, or if it failed while this question waited.
    """

    said: Said
    why: str = ""
    down: bool = False
    unasked: bool = False

    @property
    def shown(self) -> str:
        """It in our own words."""
        return self.why or f"it says {self.said.value}"


OnItem = Callable[[Item, Said], None]
OnCost = Callable[[str, float], None]


class Judge:
    """Asks one target. ``rng`` must not be guessable; it also draws which answers are judged."""

    def __init__(
        self,
        target: JudgeTarget,
        *,
        share: float,
        record: Record,
        budget: Budget,
        clock: Clock,
        rng: Random,
        on_item: OnItem,
        on_cost: OnCost,
    ) -> None:
        self._target = target
        self._share = share
        self._record = record
        self._budget = budget
        self._clock = clock
        self._rng = rng
        self._on_item = on_item
        self._on_cost = on_cost
        self._rests_until = float("-inf")
        # One question at a time, however many targets are judged.
        self._turn = asyncio.Lock()

    def agreement(self) -> Agreement:
        """Return how the judge stands by its own items."""
        return self._record.agreement()

    async def opinion(self, trial: Trial, exchange: Exchange, golden: GoldenPrompt) -> Measurement:
        """Return what the judge says of one answer, or why it was not asked or said nothing.

        Until it is trusted its word is shown and counts for nothing. Never raises.
        """
        why = self._left_out(trial, golden)
        if why or exchange.response is None:
            return _skipped(why or "no answer")
        answer = without_code(exchange.response.answer())
        word = await self._ask(golden.prompt, golden.references[0], answer)
        mistrust = self.agreement().mistrust
        if mistrust:
            return _skipped(f"the judge is not trusted yet: {mistrust}; {word.shown}")
        if word.unasked:
            return _skipped(word.why)
        if word.said is Said.BROKEN:
            return Measurement(broken={CODE: word.why})
        if word.said is Said.ABSTAINED:
            return _skipped("abstained: its word depends on the order it is asked in")
        return Measurement(judged_right=word.said is Said.RIGHT)

    async def try_items(self, count: int) -> int:
        """Ask the judge about its own items; return how many it gave a word on.

        Stops at the first it fails on, or that its budget cannot pay.
        """
        tried = 0
        for item in self._record.due(count):
            if self._resting():
                break
            word = await self._ask(item.question, item.reference, item.answer)
            if word.unasked:
                break
            self._record.note(item, word.said)
            self._on_item(item, word.said)
            tried += 1
        if tried:
            await asyncio.to_thread(self._record.save)
        return tried

    @property
    def untried(self) -> int:
        """How many of its items it was never asked."""
        return self._record.untried

    def _left_out(self, trial: Trial, golden: GoldenPrompt) -> str:
        if trial.target == self._target.name:
            return "the judge does not judge itself"
        if not trial.scheduled:
            return "only scheduled answers are judged"
        if not golden.references:
            return "the golden prompt has no reference answer"
        if self._rng.random() >= self._share:
            return "not drawn"
        return _RESTS if self._resting() else ""

    def _resting(self) -> bool:
        return self._clock.monotonic() < self._rests_until

    async def _ask(self, question: str, reference: str, answer: str) -> Word:
        """Ask in both orders, once each, if the judge's budget can pay for both."""
        asked = both_orders(
            question,
            reference,
            answer,
            self._rng,
            min_output_tokens=self._target.min_output_tokens,
        )
        price = sum(_price(each) for each in asked)
        async with self._turn:
            # Whoever waited for a judge that then failed must not wait for it once more.
            if self._resting():
                return Word(said=Said.BROKEN, why=_RESTS, unasked=True)
            # Off the loop: a reservation may wait for the disk.
            reservation = await asyncio.to_thread(
                self._budget.reserve, self._target.name, BUDGET, price
            )
            if reservation is None:
                why = "what is left of the judge's budget of the day cannot pay it"
                return Word(said=Said.BROKEN, why=why, unasked=True)
            spent = price
            try:
                word, spent = await self._both(asked)
            finally:
                cost = self._budget.settle(reservation, spent)
        self._on_cost(self._target.name, cost)
        if word.down:
            self._rests_until = self._clock.monotonic() + REST_SECONDS
            log.warning("the judge %s is left alone for a while: %s", self._target.name, word.why)
        return word

    async def _both(self, asked: tuple[Question, Question]) -> tuple[Word, int]:
        """Return the word of both orders, and the tokens to charge."""
        verdicts: list[bool] = []
        spent = 0
        for question in asked:
            reply = await self._target.engine.ask(
                question.request,
                credential=self._target.credential,
                timeout_seconds=min(self._target.timeout_seconds, LONGEST_WAIT_SECONDS),
            )
            usage = reply.response.usage if reply.response else None
            reported = (usage.input_tokens or 0) + (usage.output_tokens or 0) if usage else 0
            spent += max(_price(question), reported)
            if reply.failure is not None or reply.response is None:
                kind = reply.failure.kind.value if reply.failure else "no_answer"
                code = f" {reply.http_status}" if reply.http_status else ""
                why = f"the judge failed ({kind}{code})"
                return Word(said=Said.BROKEN, why=why, down=True), spent
            verdict = question.read(reply.response)
            if verdict is None:
                return Word(said=Said.BROKEN, why="the judge gave neither of its two words"), spent
            verdicts.append(verdict)
        if verdicts[0] != verdicts[1]:
            return Word(said=Said.ABSTAINED), spent
        return Word(said=Said.RIGHT if verdicts[0] else Said.WRONG), spent


def _price(question: Question) -> int:
    request = question.request
    size = len(request.text().encode())
    return size // _BYTES_PER_TOKEN + _TEMPLATE_TOKENS + request.max_output_tokens


def _skipped(why: str) -> Measurement:
    return Measurement(skipped={CODE: why})
