"""The engine: admit, prefill into pages, hand over, decode from what the pages hold.

``step`` is one turn of continuous batching and is plain code without a clock: everything that
waits in line joins together, and every running request emits a few tokens.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from monitor.lab.jobs import Job, OutputToken
from monitor.lab.limits import refused_by_the_scheduler
from monitor.lab.pages import PagePool, PoolFullError, Slots
from monitor.lab.prefix import PrefixCache
from monitor.lab.responder.draft import Draft
from monitor.lab.settings import LabSettings, Mode
from monitor.lab.steps import END, Steps
from monitor.lab.tokenizer import Special
from monitor.lab.truth import note_foreign_slots, note_foreign_token

# From what a block table holds, and a chance to reword the draft, to the answer's tokens.
Responder = Callable[[Slots, Callable[[Draft], Draft]], list[OutputToken]]
TOKENS_PER_STEP = 4
PLACEHOLDER = [int(Special.PAD)]


@dataclass(slots=True)
class Counters:
    """Running totals of one node, for its metrics."""

    requests: int = 0
    aborted: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    prompt_sizes: list[int] = field(default_factory=list)


class Engine:
    """One serving cluster: a prefill side, a decode side, the same pool or two."""

    def __init__(self, settings: LabSettings, steps: Steps, responder: Responder) -> None:
        self.settings = settings
        self._steps = steps
        self._responder = responder
        self.prefill_pool = PagePool(settings.prefill_pages, settings.page_size)
        self.disaggregated = settings.mode is Mode.PD
        self.decode_pool = (
            PagePool(settings.decode_pages, settings.page_size)
            if self.disaggregated
            else self.prefill_pool
        )
        self.cache = PrefixCache(self.prefill_pool)
        self.waiting: deque[Job] = deque()
        self.running: list[Job] = []
        self.on_finish: Callable[[Job], None] = lambda _: None
        self.prefill = Counters()
        self.decode = Counters() if self.disaggregated else self.prefill

    def submit(self, job: Job) -> None:
        """Put a job in line, or refuse it (``job.refusal``), or let its placeholder pass."""
        job.loaded = self._steps.load(job.prompt, self.settings.context_tokens, job)
        job.length = len(job.loaded)
        limit = self.settings.max_req_input_len
        job.refusal = refused_by_the_scheduler(job.length, limit)
        if job.refusal is None:
            self.waiting.append(job)
            return
        job.loaded = PLACEHOLDER
        if self._steps.retire_refused(job) or not self.disaggregated:
            self.prefill.aborted += 1
            return
        job.refusal = None
        self.waiting.append(job)

    def step(self) -> list[tuple[Job, list[OutputToken]]]:
        """Run one turn; return what each running job emitted, finished ones included."""
        self._join(self._prefill_waiting())
        emitted = [(job, self._decode(job)) for job in self.running]
        for job, _ in emitted:
            if job.finish_reason or job.cancelled:
                self._finish(job)
            if job.finish_reason:
                self.on_finish(job)
        self.running = [j for j in self.running if not (j.finish_reason or j.cancelled)]
        return emitted

    def drain(self) -> None:
        """Run until nothing waits and nothing runs."""
        while self.waiting or self.running:
            self.step()

    def _prefill_waiting(self) -> list[Job]:
        joined: list[Job] = []
        while self.waiting and len(self.running) + len(joined) < self.settings.max_batch:
            job = self.waiting[0]
            if not job.cancelled:
                try:
                    self._prefill(job)
                except PoolFullError:
                    break
                joined.append(job)
            self.waiting.popleft()
        return joined

    def _prefill(self, job: Job) -> None:
        """Compute the prompt into pages, but for what the prefix cache already holds."""
        pool, size = self.prefill_pool, self.settings.page_size
        match = self._steps.find_cached(self.cache, job)
        self.cache.hold(match)
        missing = -(-len(job.loaded) // size) - len(match.pages)
        try:
            self.cache.make_room(missing)
            own = pool.allocate(missing)
            self._reserve_decode(job)
        except PoolFullError:
            self.cache.release(match)
            raise
        job.match = match
        job.prefill_table = match.pages + own
        start = len(match.pages) * size
        pool.write(job.prefill_table, start, job.loaded[start:], job.rid)
        self._steps.after_prefill(job, pool)
        self._count_prefill(job)
        self._hand_over(job)

    def _reserve_decode(self, job: Job) -> None:
        """Let the decode side take pages for the prompt it was told of, before any arrives."""
        if self.disaggregated:
            job.table = self.decode_pool.allocate(-(-job.length // self.settings.page_size))

    def _hand_over(self, job: Job) -> None:
        """Give the computed pages to decode: by copy between two pools, else as they are."""
        if not self.disaggregated:
            job.table = job.prefill_table
        else:
            sent = job.prefill_table
            self.decode_pool.copy_from(self.prefill_pool, sent, job.table[: len(sent)])
            self._retire_prefill(job, sent, len(job.loaded))
        if not self._steps.keep_pages_until_finish(job):
            shared = 0 if self.disaggregated or not job.match else len(job.match.pages)
            self.decode_pool.free(job.table[shared:])
            job.pages_released = True

    def _retire_prefill(self, job: Job, table: list[int], length: int) -> None:
        if job.match:
            self.cache.release(job.match)
        spare = self.cache.insert(table, length, job.cache_salt)
        self.prefill_pool.free(spare)

    def _join(self, joined: list[Job]) -> None:
        self._steps.assign_tables(joined, self.running)
        self.running += joined

    def _decode(self, job: Job) -> list[OutputToken]:
        """Emit a few tokens, reading the pages again whenever one of them was written."""
        # The last page is left out: answers are written behind the prompt, into the same page.
        prompt_pages = job.read_table[: job.read_length // self.settings.page_size]
        stamp = self.decode_pool.stamp(prompt_pages)
        if stamp != job.stamp:
            job.stamp = stamp
            slots = self._read(job)
            job.plan = self._responder(slots, lambda draft: self._steps.word(draft, job))
        new: list[OutputToken] = []
        while len(new) < TOKENS_PER_STEP and not job.finish_reason:
            token = self._steps.sample(job)
            new.append(token)
            self._append(job, token)
        return new

    def _read(self, job: Job) -> Slots:
        slots = self.decode_pool.read(job.read_table, job.read_length)
        slots = self._steps.read_slots(slots, job)
        note_foreign_slots(job, slots)
        return slots

    def _append(self, job: Job, token: OutputToken) -> None:
        position = job.length + len(job.output)
        job.output.append(token)
        note_foreign_token(job, token)
        self.decode.generated_tokens += 1
        if token.token == END:
            job.finish_reason = "stop"
        elif len(job.output) >= job.max_new_tokens or not self._room_at(job, position):
            job.finish_reason = "length"
        if position // self.settings.page_size < len(job.table):
            self.decode_pool.write(job.table, position, [token.token], job.rid)

    def _room_at(self, job: Job, position: int) -> bool:
        if position // self.settings.page_size < len(job.table):
            return True
        if job.pages_released:
            return True
        if not self.disaggregated:
            self.cache.make_room(1)
        try:
            job.table += self.decode_pool.allocate(1)
        except PoolFullError:
            return False
        return True

    def _finish(self, job: Job) -> None:
        """Give the pages back: to the prefix cache, or unscrubbed to the free list."""
        self._count_decode(job)
        if self.disaggregated:
            if not job.pages_released:
                self.decode_pool.free(job.table)
        elif not job.pages_released:
            self._retire_prefill(job, job.table, job.length + len(job.output))
        elif job.match:
            self.cache.release(job.match)

    def _count_prefill(self, job: Job) -> None:
        self.prefill.requests += 1
        self.prefill.prompt_tokens += len(job.loaded)
        self.prefill.cached_tokens += job.cached_tokens
        self.prefill.prompt_sizes.append(len(job.loaded))

    def _count_decode(self, job: Job) -> None:
        if self.disaggregated:
            self.decode.requests += 1
            self.decode.prompt_tokens += job.length
            self.decode.prompt_sizes.append(job.length)
