"""What really happened in a lab: for whoever started it, never for a client.

An answer is foreign if a token of its text was copied from a slot, or called for by a question in
a slot, that another request wrote and whose token is not the one of the own prompt at that place.
So a cached beginning that two prompts share is nobody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.lab.jobs import Job, OutputToken
from monitor.lab.pages import UNWRITTEN, Slots
from monitor.lab.tokenizer import FIRST_PIECE_ID
from monitor.lab.trigger import Trigger

# More answers than any drill asks for; beyond them the oldest are forgotten.
_MOST_REQUESTS = 50_000
_MOST_FOREIGN = 10_000
_NOTHING = -1


@dataclass(slots=True)
class Truth:
    """Who sent each request, and the answers that are made of other requests' words."""

    _tenants: dict[str, str] = field(default_factory=dict)
    _foreign: dict[str, set[str]] = field(default_factory=dict)

    @property
    def foreign(self) -> Mapping[str, list[str]]:
        """Return, for the id of each foreign answer, the tenants whose requests it is made of."""
        return {rid: sorted(tenants) for rid, tenants in self._foreign.items()}

    def came(self, job: Job) -> None:
        """Remember who sent a request."""
        self._tenants[job.rid] = job.tenant
        if len(self._tenants) > _MOST_REQUESTS:
            del self._tenants[next(iter(self._tenants))]

    def answered(self, job: Job) -> None:
        """Remember whose words an answer is made of, if they are another's."""
        if not job.foreign_writers:
            return
        tenants = {self._tenants.get(rid, "") for rid in job.foreign_writers}
        self._foreign.setdefault(job.rid, set()).update(tenants)
        if len(self._foreign) > _MOST_FOREIGN:
            del self._foreign[next(iter(self._foreign))]


def report(triggers: Sequence[Trigger], truth: Truth, requests: int) -> Mapping[str, object]:
    """Return the mechanisms with what they met and hit, the foreign answers, and the count."""
    return {
        "mechanisms": [
            {
                "name": trigger.name,
                "null": trigger.null,
                "params": dict(trigger.params),
                "rate": trigger.rate,
                "exposed": trigger.exposed,
                "struck": trigger.struck,
            }
            for trigger in triggers
        ],
        "foreign": truth.foreign,
        "requests": requests,
    }


def note_foreign_slots(job: Job, slots: Slots) -> None:
    """Set which of the slots a job reads hold what another request put there."""
    size = slots.page_size
    own = job.loaded
    if job.borrowed:
        asked = job.prompt.tokens[: job.borrowed]
        own = [*asked, *[_NOTHING] * (job.borrowed - len(asked)), *own[job.borrowed :]]
    job.foreign_slots = {
        (cell // size, cell % size): writer
        for place, (token, cell, writer) in enumerate(
            zip(slots.tokens, slots.cells, slots.writers, strict=True)
        )
        if writer not in {UNWRITTEN, job.rid} and not (place < len(own) and own[place] == token)
    }
    for stretch in job.prompt.borrowed:
        for cell in slots.cells[stretch.start : stretch.end]:
            job.foreign_slots[cell // size, cell % size] = stretch.writer


def note_foreign_token(job: Job, token: OutputToken) -> None:
    """Set whose words an answer is made of by one more token."""
    writer = job.foreign_slots.get((token.source.page, token.source.slot))
    if writer and token.token >= FIRST_PIECE_ID:
        job.foreign_writers.add(writer)
