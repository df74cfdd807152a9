"""Chat requests in, finished or streaming answers out; the asyncio side of the engine."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections import deque
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from monitor.lab.asked import ChatRequest
from monitor.lab.engine import Engine
from monitor.lab.gateway import Ending
from monitor.lab.jobs import Caller, Job, OutputToken, Refusal, Usage, request_id
from monitor.lab.limits import refused_at_the_door
from monitor.lab.parsing import OutputParser
from monitor.lab.responder.compose import ModelResponder
from monitor.lab.settings import LabSettings, NodeRole
from monitor.lab.steps import Steps
from monitor.lab.template import render
from monitor.lab.tokenizer import Tokenizer
from monitor.lab.truth import Truth, report

# Requests that come within this time join the same batch.
_GATHER_SECONDS = 0.008
# As many finished answers as a gateway keeps.
_REPLIES = 256


class RefusedError(Exception):
    """The request is refused; ``refusal`` says how."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class BrokenDownError(Exception):
    """The engine failed, and this request with it."""


@dataclass(slots=True, kw_only=True)
class Answer:
    """An answer under way: the job, and the parser that reads its tokens."""

    job: Job
    parser: OutputParser
    steps: Steps
    refusal: Refusal | None = None
    wants_logprobs: bool = False
    top_logprobs: int = 0
    streamed: bool = False
    # How many of its tokens were taken from the engine.
    taken: int = 0

    @property
    def finish_reason(self) -> str:
        """Return the reason as the API names it."""
        calls = bool(self.parser.calls)
        reason = "stop" if self.parser.stopped else self.job.finish_reason or "stop"
        reason = "tool_calls" if calls and reason != "length" else reason
        ending = Ending(reason=reason, has_calls=calls, streamed=self.streamed)
        return self.steps.gateway.finish_reason(ending, self.job)

    @property
    def response_id(self) -> str:
        """Return the id as the API shows it."""
        return self.steps.gateway.response_id(self.job)

    @property
    def usage(self) -> Usage:
        """Return the counts as reported."""
        return self.steps.report(
            Usage(
                prompt_tokens=self.job.prompt_tokens,
                completion_tokens=len(self.job.output),
                cached_tokens=self.job.cached_tokens,
                reasoning_tokens=self.parser.reasoning_tokens,
                streamed=self.streamed,
            ),
            self.job,
        )


@dataclass(slots=True)
class Service:
    """One lab: an engine, its loop, and news for every request under way."""

    settings: LabSettings
    steps: Steps
    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    engine: Engine = field(init=False)
    _numbers: int = 0
    _news: dict[str, asyncio.Event] = field(default_factory=dict)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _replies: deque[Job] = field(default_factory=lambda: deque(maxlen=_REPLIES))
    _unread: dict[str, Answer] = field(default_factory=dict)
    truth: Truth = field(default_factory=Truth)

    def __post_init__(self) -> None:
        """Build the engine around the stand-in for the model."""
        self.engine = Engine(self.settings, self.steps, ModelResponder(self.tokenizer))
        self.engine.on_finish = self._keep

    @property
    def requests(self) -> int:
        """Return how many requests have come."""
        return self._numbers

    def caller(self, tenant: str = "") -> Caller:
        """Return who sends the next request, with its number."""
        self._numbers += 1
        return Caller(number=self._numbers, tenant=tenant)

    def report(self) -> Mapping[str, object]:
        """Return what really happened, for whoever started the lab; clients never see it."""
        return report(self.steps.triggers, self.truth, self._numbers)

    def rid(self, number: int) -> str:
        """Return the id of a request: a function of seed and number."""
        return request_id(self.settings.seed, number)

    def admit(self, request: ChatRequest, caller: Caller) -> Answer:
        """Return the answer of a request that the engine now works on, or raise."""
        self._restart(self.steps.node.restarts(caller))
        job = self._job(request, caller)
        self.truth.came(job)
        earlier = self.steps.stored_reply(self._replies, job.prompt, caller)
        if earlier is not None:
            self._serve_again(job, earlier)
        else:
            self.engine.submit(job)
        answer = self._answer(request, job)
        if job.refusal is not None and not self._refuses_in_stream(request, caller):
            raise RefusedError(job.refusal)
        answer.refusal = job.refusal
        return answer

    async def tokens(self, answer: Answer) -> AsyncGenerator[list[OutputToken], None]:
        """Yield the answer's tokens as they come; a client that goes away cancels the job.

        Raises ``BrokenDownError`` if the engine broke down over it.
        """
        job = answer.job
        news = self._news.setdefault(job.rid, asyncio.Event())
        self._wake.set()
        try:
            while True:
                fresh, answer.taken = job.output[answer.taken :], len(job.output)
                if fresh:
                    yield fresh
                elif job.failed:
                    raise BrokenDownError
                elif job.is_finished():
                    return
                else:
                    await news.wait()
                    news.clear()
        finally:
            self._leave(answer)
            del self._news[job.rid]

    def reply(self, answer: Answer) -> Answer:
        """Return the answer that the gateway's upstream connection of a request brings."""
        rid = self.steps.gateway.reply_of(answer.job, streamed=answer.streamed)
        other = self._unread.pop(rid, None)
        if other is None or answer.refusal:
            return answer
        self._unread[answer.job.rid] = answer
        answer.job.foreign_writers.add(rid)
        self.truth.answered(answer.job)
        return other

    def _leave(self, answer: Answer) -> None:
        """Let go of an answer that was read to its end, or whose client has hung up."""
        job = answer.job
        if job.failed or (job.is_finished() and answer.taken == len(job.output)):
            return
        if self.steps.gateway.keeps_unread_reply(job, streamed=answer.streamed):
            self._unread[job.rid] = answer
        else:
            job.cancelled = not job.is_finished()

    async def run(self) -> None:
        """Step the engine for ever; sleep while there is nothing to do.

        A turn that breaks down fails the requests it was about, and the others go on.
        """
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(_GATHER_SECONDS)
            while self.engine.is_busy:
                turn = asyncio.create_task(self._turn())
                await asyncio.wait([turn])
                error = turn.exception()
                if error is not None:
                    traceback.print_exception(error, file=sys.stderr)
                self._tell(turn.result() if error is None else self.engine.break_off())
                await asyncio.sleep(self.settings.turn_seconds)

    def _tell(self, jobs: Iterable[Job]) -> None:
        """Wake whoever waits for news of these."""
        for job in jobs:
            if job.rid in self._news:
                self._news[job.rid].set()

    def _restart(self, roles: Collection[NodeRole]) -> None:
        if roles:
            self._tell(self.engine.restart(roles))

    async def _turn(self) -> list[Job]:
        return self.engine.step()

    def _job(self, request: ChatRequest, caller: Caller) -> Job:
        prompt = render(self.steps.template(request.chat, caller), self.tokenizer)
        size, context = len(prompt.tokens), self.settings.context_tokens
        refusal = None
        if not self._refuses_in_stream(request, caller):
            refusal = refused_at_the_door(size, request.max_new_tokens, context)
        if refusal:
            raise RefusedError(refusal)
        limit = request.max_new_tokens or self.settings.default_max_new_tokens
        return Job(
            number=caller.number,
            tenant=caller.tenant,
            rid=self.rid(caller.number),
            prompt=prompt,
            max_new_tokens=max(1, min(limit, context - size)),
            cache_salt=request.cache_salt,
        )

    def _answer(self, request: ChatRequest, job: Job) -> Answer:
        parser = OutputParser(
            tokenizer=self.tokenizer,
            reading=self.steps.read_output(job),
            stops=self.steps.gateway.stops(request.stops, job),
            name_of=lambda name: self.steps.gateway.name_call(name, job),
        )
        return Answer(
            job=job,
            parser=parser,
            steps=self.steps,
            wants_logprobs=request.logprobs,
            top_logprobs=request.top_logprobs,
            streamed=request.stream,
        )

    def _refuses_in_stream(self, request: ChatRequest, caller: Caller) -> bool:
        return request.stream and self.steps.refuse_in_stream(caller)

    def _serve_again(self, job: Job, earlier: Job) -> None:
        job.output, job.finish_reason = earlier.output, earlier.finish_reason
        job.length = len(job.prompt.tokens)
        job.foreign_writers = {earlier.rid}
        self.truth.answered(job)

    def _keep(self, job: Job) -> None:
        """Remember a finished answer, and whose words it is made of."""
        self._replies.append(job)
        self.truth.answered(job)
