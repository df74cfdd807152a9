"""Faults of what is kept between requests: a disk tier and system prompts, keyed by too little."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

# Evicted pages that the disk keeps; beyond them the oldest are forgotten.
_MOST_KEPT = 4096


@dataclass(slots=True)
class _DiskTier:
    """Evicted pages; a session is found by a few bits of what led to its first page wanted."""

    bits: int
    _kept: dict[int, Evicted] = field(default_factory=dict)

    def keep(self, page: Evicted) -> None:
        """Write a page to the disk."""
        self._kept.pop(page.chain, None)
        self._kept[page.chain] = page
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    def wrong(self, job: Job, page_size: int) -> dict[int, Page]:
        """Return, for places in a job's table, the pages of another session that its key finds."""
        chains = list(_chains(job, page_size))
        cached = len(job.match.pages) if job.match else 0
        # Only what was evicted before is looked for on the disk.
        wanted = [place for place in range(cached, len(chains)) if chains[place] in self._kept]
        if not wanted:
            return {}
        path = self._found(wanted[0], chains[wanted[0]])
        found = {
            place: self._kept[path[place]].content
            for place in wanted
            if place < len(path) and path[place] in self._kept
        }
        own = split_pages(job.loaded, page_size)
        return {place: page for place, page in found.items() if tuple(page[0]) != own[place]}

    def _found(self, place: int, chain: int) -> tuple[int, ...]:
        """Return the chains of the session last written whose key at this place is the same."""
        mask = (1 << self.bits) - 1
        paths = [page.path for page in self._kept.values() if len(page.path) > place]
        alike = [path[place] for path in paths if path[place] & mask == chain & mask]
        return max((path for path in paths if path[place] == alike[-1]), key=len)


def _chains(job: Job, page_size: int) -> Iterator[int]:
    chain = root_chain(job.cache_salt)
    for content in split_pages(job.loaded, page_size):
        chain = next_chain(chain, content)
        yield chain


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
