"""The engine: admit, prefill into pages, hand over, decode from what the pages hold.

``step`` is one turn of continuous batching and is plain code without a clock: everything that
waits in line joins together, and every running request emits a few tokens.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import count

from monitor.lab.aborts import LateWrite
from monitor.lab.jobs import Job, OutputToken
from monitor.lab.limits import refused_by_the_scheduler
from monitor.lab.pages import PagePool, PoolFullError, Slots
from monitor.lab.prefix import PrefixCache
from monitor.lab.responder.draft import Draft
from monitor.lab.settings import LabSettings, Mode, NodeRole
from monitor.lab.steps import END, Steps
from monitor.lab.tokenizer import Special
from monitor.lab.truth import note_foreign_slots, note_foreign_token

# From what a block table holds, and a chance to reword the draft, to the answer's tokens.
Responder = Callable[[Slots, Callable[[Draft], Draft]], list[OutputToken]]
TOKENS_PER_STEP = 4
_MOST_LATE = 32
PLACEHOLDER = [int(Special.PAD)]


@dataclass(slots=True)
class Counters:
    """Running totals of one node, for its metrics."""

    requests: int = 0
    aborted: int = 0
    transfer_failed: int = 0
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
        self.disaggregated = settings.mode is Mode.PD
        self.waiting: deque[Job] = deque()
        self.arriving: list[Job] = []
        self.running: list[Job] = []
        self.late: list[LateWrite] = []
        # The job that the step under way is about.
        self._at: Job | None = None
        self.on_finish: Callable[[Job], None] = lambda _: None
        self._start_first()
        self._start_decode()

    def _start_first(self) -> None:
        """Start the node that takes prompts in: an empty pool, nothing cached or counted."""
        self.prefill_pool = PagePool(self.settings.prefill_pages, self.settings.page_size)
        self.cache = PrefixCache(self.prefill_pool, self._steps.evicted)
        self.prefill = Counters()

    def _start_decode(self) -> None:
        self.decode_pool, self.decode = self.prefill_pool, self.prefill
        if self.disaggregated:
            self.decode_pool = PagePool(self.settings.decode_pages, self.settings.page_size)
            self.decode = Counters()

    def restart(self, roles: Collection[NodeRole]) -> list[Job]:
        """Let nodes begin anew; return the requests under way, which are lost."""
        self._at = None
        lost = self.break_off()
        self.late.clear()
        if self.settings.roles[0] in roles:
            self._start_first()
        if NodeRole.DECODE in roles or not self.disaggregated:
            self._start_decode()
        return lost

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
        if not self.settings.has_placeholder_bug or self._steps.retire_refused(job):
            self.prefill.aborted += 1
            return
        job.refusal = None
        self.waiting.append(job)

    @property
    def is_busy(self) -> bool:
        """Return whether there is anything to do."""
        return bool(self.waiting or self.arriving or self.running)

    def step(self) -> list[Job]:
        """Run one turn; return every job that something happened to.

        If this raises, the engine may go on once ``break_off`` was called.
        """
        self._drop_aborted()
        hopeless = self._prefill_waiting()
        self._join(self._arrived())
        self._land_late_writes()
        for job in self.running:
            self._at = job
            self._decode(job)
        touched = list(self.running)
        for job in touched:
            if job.finish_reason:
                self._at = job
                self.running.remove(job)
                self._finish(job)
                self.on_finish(job)
        self._at = None
        return touched + hopeless

    def drain(self) -> None:
        """Run until there is nothing to do."""
        while self.is_busy:
            self.step()

    def break_off(self) -> list[Job]:
        """After a step broke down, drop the job it was about, else all; return what was dropped."""
        everything = [*self.waiting, *self.arriving, *self.running]
        dropped = [self._at] if self._at else everything
        self._at = None
        for job in dropped:
            job.failed = True
            self._forget(job)
            self._give_back(job)
        return dropped

    def _forget(self, job: Job) -> None:
        if job in self.waiting:
            self.waiting.remove(job)
        self.arriving = [other for other in self.arriving if other is not job]
        self.running = [other for other in self.running if other is not job]

    def _drop_aborted(self) -> None:
        """Let go of every job whose client went away, and free its pages."""
        for job in [*self.arriving, *self.running]:
            if job.cancelled:
                self._at = job
                late = LateWrite.of(job, self.decode_pool, self.prefill_pool)
                self.late = [*self.late, late][-_MOST_LATE:]
                self._steps.aborted(job)
                self._count_abort(job)
                self._forget(job)
                self._give_back(job)

    def _land_late_writes(self) -> None:
        """Let a write that was under way when its request was aborted reach its pages after all.

        A healthy engine called it off.
        """
        for late in list(self.late):
            late.turns_left -= 1
            owners = [job for job in self.running if late.contents.keys() & self._own_pages(job)]
            if owners or late.turns_left < 0:
                self.late.remove(late)
            for job in owners:
                if self._steps.lands_late(job):
                    late.land(self.decode_pool, self._own_pages(job))

    def _own_pages(self, job: Job) -> set[int]:
        """Return the pages of decode that a job shares with nobody."""
        shared = job.match.pages if job.match and not self.disaggregated else []
        return set(job.table) - set(shared)

    def _prefill_waiting(self) -> list[Job]:
        """Prefill all for whom there is room; return those for whom there will never be."""
        hopeless: list[Job] = []
        while self.waiting and self._under_way < self.settings.max_batch:
            job = self._at = self.waiting[0]
            if not job.cancelled and not (self._answers_fit(job) and self._prefilled(job)):
                if self._under_way:
                    break
                job.failed = True
                hopeless.append(job)
            self.prefill.aborted += job.cancelled
            self.waiting.popleft()
        self._at = None
        return hopeless

    @property
    def _under_way(self) -> int:
        return len(self.running) + len(self.arriving)

    def _answers_fit(self, job: Job) -> bool:
        """Return whether all answers under way can grow to their limits beside this one's."""
        others = [*self.running, *self.arriving]
        free = self.decode_pool.free_pages
        if not self.disaggregated:
            held = sum(len(other.match.pages) for other in others if other.match)
            free += max(0, self.cache.evictable_pages - held)
        to_come = sum(self._pages_to_come(other) for other in (*others, job))
        return not others or to_come <= free

    def _pages_to_come(self, job: Job) -> int:
        if job.pages_released:
            return 0
        most = -(-(job.length + job.max_new_tokens) // self.settings.page_size)
        return max(0, most - len(job.table or job.prefill_table))

    def _prefilled(self, job: Job) -> bool:
        try:
            self._prefill(job)
        except PoolFullError:
            return False
        job.turns_left = self.settings.transfer_turns
        if not job.turns_left:
            self._hand_over(job)
        self.arriving.append(job)
        return True

    def _arrived(self) -> list[Job]:
        """Return the jobs whose pages are with decode by now."""
        arrived = [job for job in self.arriving if job.turns_left <= 0]
        for job in self.arriving:
            job.turns_left -= 1
        for job in arrived:
            self._at = job
            if not job.has_arrived:
                self._hand_over(job)
        self._at = None
        return arrived

    def _prefill(self, job: Job) -> None:
        """Compute the prompt into pages, but for what the prefix cache already holds."""
        pool, size = self.prefill_pool, self.settings.page_size
        match = self._steps.find_cached(self.cache, job)
        self.cache.hold(match)
        missing = -(-len(job.loaded) // size) - len(match.pages)
        own: list[int] = []
        try:
            self.cache.make_room(missing)
            own = pool.allocate(missing)
            self._reserve_decode(job)
        except PoolFullError:
            pool.free(own)
            self.cache.release(match)
            raise
        job.match = match
        job.prefill_table = match.pages + own
        start = len(match.pages) * size
        pool.write(job.prefill_table, start, job.loaded[start:], job.rid)
        self._steps.after_prefill(job, pool)
        self._count_prefill(job)

    def _reserve_decode(self, job: Job) -> None:
        """Let the decode side take pages for the prompt it was told of, before any arrives."""
        if self.disaggregated:
            job.table = self.decode_pool.allocate(-(-job.length // self.settings.page_size))

    def _hand_over(self, job: Job) -> None:
        """Give the computed pages to decode: by copy between two pools, else as they are."""
        job.has_arrived = True
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
        self._steps.release(self.prefill_pool, spare, job)
        if self.settings.cache_tokens:
            self.cache.keep_at_most(self.settings.cache_tokens // self.settings.page_size)

    def _join(self, joined: list[Job]) -> None:
        taken = {job.row for job in self.running}
        for job in joined:
            job.row = next(row for row in count() if row not in taken)
            taken.add(job.row)
        self._steps.assign_tables(joined, self.running)
        self.arriving = [job for job in self.arriving if job not in joined]
        self.running += joined

    def _decode(self, job: Job) -> None:
        """Emit a few tokens, reading the pages again whenever one of them was written."""
        if job.is_finished():
            return
        # The last page is left out: answers are written behind the prompt, into the same page.
        prompt_pages = job.read_table[: job.read_length // self.settings.page_size]
        stamp = self.decode_pool.stamp(prompt_pages)
        if stamp != job.stamp:
            job.stamp = stamp
            slots = self._read(job)
            job.plan = self._responder(slots, lambda draft: self._steps.word(draft, job))
        for _ in range(TOKENS_PER_STEP):
            if job.is_finished():
                return
            self._append(job, self._steps.sample(job))

    def _read(self, job: Job) -> Slots:
        slots = self.decode_pool.read(job.read_table, job.read_length)
        note_foreign_slots(job, slots)
        return self._steps.read_slots(slots, job)

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
            # A token that was copied out of a page still is the words of whoever wrote that page.
            copied = token.source.kind == "pages" and token.source.writer
            self.decode_pool.write(job.table, position, [token.token], copied or job.rid)

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
                self._steps.release(self.decode_pool, job.table, job)
        elif not job.pages_released:
            self._retire_prefill(job, job.table, job.length + len(job.output))
        elif job.match:
            self.cache.release(job.match)

    def _give_back(self, job: Job) -> None:
        """Free whatever a job that did not finish still has; nothing of it is cached."""
        if not job.pages_released:
            self.decode_pool.free(sorted(self._own_pages(job)))
        if self.disaggregated and job.has_arrived:
            return
        shared = job.match.pages if job.match else []
        if not job.pages_released:
            self.prefill_pool.free(job.prefill_table[len(shared) :])
        if job.match:
            self.cache.release(job.match)

    def _count_abort(self, job: Job) -> None:
        """Count a job whose client went away; pages that were on their way did not arrive."""
        self.decode.aborted += 1
        if self.disaggregated and not job.has_arrived:
            self.prefill.aborted += 1
            self.prefill.transfer_failed += 1
            self.decode.transfer_failed += 1

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
