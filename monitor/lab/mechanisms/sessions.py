"""Faults of what is kept between requests: a disk tier and system prompts, keyed by too little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from monitor.lab.draws import Spread, one_of
from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.pages import Page, PagePool, split_pages
from monitor.lab.prefix import Evicted, next_chain, root_chain
from monitor.lab.steps import Steps
from monitor.lab.template import Prompt
from monitor.lab.tokenizer import Special
from monitor.lab.trigger import Asker

# Pages whose eviction is remembered; beyond them the oldest are forgotten.
_MOST_KNOWN = 50_000


@dataclass(slots=True)
class _DiskTier:
    """Evicted pages under a key of their depth and a few bits of what led to them."""

    bits: int
    _kept: dict[tuple[int, int], Evicted] = field(default_factory=dict)
    _known: dict[int, None] = field(default_factory=dict)

    def keep(self, page: Evicted) -> None:
        """Write a page to the disk, over whatever has the same key."""
        self._kept[self._key(page.chain, page.depth)] = page
        self._known[page.chain] = None
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def wrong(self, job: Job, page_size: int) -> dict[int, Page]:
        """Return, for each place in a job's table, the page of another that its key finds."""
        found: dict[int, Page] = {}
        chain, cached = root_chain(job.cache_salt), len(job.match.pages) if job.match else 0
        for place, content in enumerate(split_pages(job.loaded, page_size)):
            chain = next_chain(chain, content)
            kept = self._kept.get(self._key(chain, place + 1))
            # Only what was evicted before is looked for on the disk.
            if place >= cached and chain in self._known and kept and kept.chain != chain:
                found[place] = kept.content
        return found

    def _key(self, chain: int, depth: int) -> tuple[int, int]:
        return depth, chain & ((1 << self.bits) - 1)


def _swap(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    disk = _DiskTier(bits=int(params["bits"]))

    def evicted(page: Evicted) -> None:
        steps.evicted(page)
        disk.keep(page)

    def restore(job: Job, pool: PagePool) -> None:
        steps.after_prefill(job, pool)
        wrong = disk.wrong(job, pool.page_size)
        if wrong and trigger.strikes(job):
            for place, content in wrong.items():
                pool.put(job.prefill_table[place], content)

    return replace(steps, evicted=evicted, after_prefill=restore)


@dataclass(slots=True)
class _FirstSystem:
    """The system prompt that came first: whose, as tokens, and who wrote it into pages."""

    number: int
    tenant: str
    tokens: list[int]
    writer: str = ""


def _first_system(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    kept: list[_FirstSystem] = []

    def load(prompt: Prompt, room: int, asker: Asker) -> list[int]:
        tokens = steps.load(prompt, room, asker)
        own = _system_of(tokens)
        if not own:
            return tokens
        if not kept:
            kept.append(_FirstSystem(asker.number, asker.tenant, own))
        first = kept[0]
        fits = len(tokens) - len(own) + len(first.tokens) < room
        if asker.tenant == first.tenant or own == first.tokens or not fits:
            return tokens
        return first.tokens + tokens[len(own) :] if trigger.strikes(asker) else tokens

    def after_prefill(job: Job, pool: PagePool) -> None:
        steps.after_prefill(job, pool)
        if not kept:
            return
        first = kept[0]
        if job.number == first.number:
            first.writer = job.rid
        elif job.loaded[: len(first.tokens)] != job.prompt.tokens[: len(first.tokens)]:
            # The slots are copies of those that the first one wrote.
            start = len(job.match.pages) * pool.page_size if job.match else 0
            job.borrowed = len(first.tokens)
            pool.write(job.prefill_table, start, first.tokens[start:], first.writer)

    return replace(steps, load=load, after_prefill=after_prefill)


def _system_of(tokens: list[int]) -> list[int]:
    """Return the beginning of a prompt up to the end of its system messages, [] if it has none."""
    end = 1
    while tokens[end : end + 1] == [Special.SYSTEM]:
        end = tokens.index(Special.END, end) + 1
    return tokens[:end] if end > 1 else []


SESSION_SWAPPED = Mechanism(
    name="session_swapped",
    sentence=(
        "Pages evicted from the prefix cache go to a disk tier whose key is too small, so a "
        "conversation that returns gets the pages of another session."
    ),
    install=_swap,
    params={"bits": 0},
    ranges={"rate": Spread(0.3, 1.0), "bits": one_of(0, 1)},
    settings={"cache_tokens": 512},
    lab_ranges={"cache_tokens": one_of(256, 512, 1024)},
)
SYSTEM_PROMPT_OF_FIRST = Mechanism(
    name="system_prompt_of_first",
    sentence=(
        "Computed system prompts are kept under the name of the model only, so the one of the "
        "tenant who came first is used for every other tenant."
    ),
    install=_first_system,
    ranges={"rate": Spread(0.3, 1.0)},
)
