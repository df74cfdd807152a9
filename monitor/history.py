"""What a check may know of the past: a read-only view, filled by the pipeline alone."""

from __future__ import annotations

import hashlib
import sys
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from monitor.canaries import MarkerRegistry, PartialEvidence
from monitor.model import Calibration, Exchange, Measurement, Owner, Request, Trial
from monitor.prompts import GoldenPrompt

# Enough to see a plateau or a reused id; small enough for thousands of targets.
REMEMBERED_EXCHANGES = 256
# Of one golden prompt the last answers are remembered longer: it is asked once in many exchanges.
REMEMBERED_ANSWERS = 24
REMEMBERED_PROMPTS = 512

_SENT_ID_DIGITS = 16

OwnerKey = tuple[str, str, str, int]
Worked = TypeVar("Worked")


class Finger(NamedTuple):
    """What a golden prompt was answered with, as a keyed hash of its facts, and by which route.

    ``prompt`` is its name and version; ``route`` a keyed hash of who says it answered, 0 if nobody.
    """

    prompt: str
    facts: int
    route: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What is remembered of an earlier exchange of the same target. Small: each target has many.

    ``least_bytes`` are those of the messages alone: some gateways count no tools and no schema.
    ``asked_in`` is the trial that asked it first, which a confirmation replays; ``sent_id`` the
    start of the id we sent. Keyed hashes stand for what is not kept: ``answer`` for one that
    nothing else is answered with, ``task`` for what was asked for.

    ``fresh_bytes`` of the prompt no cache can have known; ``beyond_tokens`` came from a cache
    although nothing that was sent before explains them. Where enough is fresh, ``waited_seconds``
    passed until the first token of a stream, or the end of a whole answer.
    """

    trial: str
    exchange: int
    probe: str
    stratum: str
    prompt_digest: str
    prompt_bytes: int
    prompt_tokens: int | None
    response_id: str | None
    model: str | None = None
    size_tokens: int | None = None
    size_error_tokens: int = 0
    least_bytes: int = 0
    cached_tokens: int = 0
    stale_from: str | None = None
    parts: tuple[tuple[OwnerKey, PartialEvidence], ...] = ()
    tenant: str = ""
    asked_in: str = ""
    sent_id: int | None = None
    system_fingerprint: str | None = None
    output_tokens: int | None = None
    streamed: bool = False
    gap_seconds: float | None = None
    answer: int | None = None
    task: int | None = None
    fresh_bytes: int = 0
    beyond_tokens: int | None = None
    waited_seconds: float | None = None
    finger: Finger | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """What the configuration says about judging one target's answers.

    ``sensitive_terms`` must not stand in an answer unless they were given to it; ``allowed``
    values (addresses, numbers) are nobody's secret. ``topic_level`` is the share of healthy answers
    that TOPIC may call off topic.
    """

    sensitive_terms: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    topic_level: float = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The past of one target as a check sees it, and what was measured of the trial at hand.

    ``weak_model`` is true where the target's tolerance says that wrong answers are ordinary:
    what only a strong model never does is then no proof against the engine. ``measured`` is by
    the exchange's index; what is not there was not measured. ``fingers`` are the answers to golden
    prompts, oldest first, by name and version.
    """

    registry: MarkerRegistry
    golden: Mapping[str, GoldenPrompt] = field(default_factory=dict)
    earlier: tuple[Observation, ...] = ()
    weak_model: bool = False
    settings: JudgeSettings = JudgeSettings()
    calibration: Calibration | None = None
    measured: Mapping[int, Measurement] = field(default_factory=dict)
    fingers: Mapping[str, tuple[Finger, ...]] = field(default_factory=dict)
    _worked_out: dict[Hashable, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def once(self, key: Hashable, work: Callable[[], Worked]) -> Worked:
        """Return what ``work`` gives, worked out once for each key while this history lives.

        For what several exchanges of a trial need: answers are large, so nothing may outlive them.
        """
        if key not in self._worked_out:
            self._worked_out[key] = work()
        worked: Worked = self._worked_out[key]
        return worked


class Memory:
    """The last exchanges of one target, from which ``History`` views are cut."""

    def __init__(self) -> None:
        self._seen: deque[Observation] = deque(maxlen=REMEMBERED_EXCHANGES)
        self._fingers: dict[str, deque[Finger]] = {}

    def recall(self) -> tuple[Observation, ...]:
        """Return what is remembered, oldest first."""
        return tuple(self._seen)

    def recall_fingers(self) -> dict[str, tuple[Finger, ...]]:
        """Return how golden prompts were answered, by name and version, oldest first."""
        return {prompt: tuple(seen) for prompt, seen in self._fingers.items()}

    def remember(self, observations: list[Observation]) -> None:
        """Add a trial's exchanges."""
        self._seen.extend(observations)
        for finger in (o.finger for o in observations if o.finger):
            if finger.prompt not in self._fingers and len(self._fingers) >= REMEMBERED_PROMPTS:
                self._fingers.pop(next(iter(self._fingers)))
            of_prompt = self._fingers.setdefault(finger.prompt, deque(maxlen=REMEMBERED_ANSWERS))
            of_prompt.append(finger)


def observe(
    trial: Trial,
    exchange: Exchange,
    *,
    stale_from: str | None = None,
    parts: tuple[tuple[OwnerKey, PartialEvidence], ...] = (),
) -> Observation:
    """Return what to remember of an exchange."""
    text = exchange.request.text()
    response = exchange.response
    return Observation(
        trial=trial.id,
        exchange=exchange.index,
        probe=trial.probe,
        stratum=trial.stratum,
        prompt_digest=prompt_digest(text),
        prompt_bytes=len(text.encode("utf-8", "surrogatepass")),
        least_bytes=message_bytes(exchange.request),
        cached_tokens=(response.usage.cached_tokens or 0) if response else 0,
        prompt_tokens=response.usage.input_tokens if response else None,
        response_id=response.response_id if response else None,
        model=_shared(response.model) if response else None,
        size_tokens=exchange.expectation.size_tokens,
        size_error_tokens=exchange.expectation.size_error_tokens,
        stale_from=stale_from,
        parts=parts,
        tenant=exchange.tenant,
        asked_in=trial.replays or trial.id,
        sent_id=sent_id(exchange.sent_request_id),
        system_fingerprint=_shared(response.system_fingerprint) if response else None,
        output_tokens=response.usage.output_tokens if response else None,
        streamed=exchange.request.stream,
        gap_seconds=exchange.timing.longest_gap_seconds if exchange.whole else None,
    )


def sent_id(text: str) -> int | None:
    """Return the first 64 bits of an id that we sent, which no two of ours share."""
    try:
        return int(text[:_SENT_ID_DIGITS], 16)
    except ValueError:
        return None


def _shared(text: str | None) -> str | None:
    """Return the one copy of a name that many answers repeat."""
    return sys.intern(text) if text else text


def message_bytes(request: Request) -> int:
    """Return the UTF-8 bytes of what the messages say, without calls, tools and schema."""
    return sum(len(m.content.encode("utf-8", "surrogatepass")) for m in request.messages)


def owner_key(owner: Owner) -> OwnerKey:
    """Return who owns a marker: one exchange of one trial."""
    return (owner.target, owner.tenant, owner.trial, owner.exchange)


def prompt_digest(text: str) -> str:
    """Return a short digest that tells prompts apart; it lives in memory only."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def stratum_key(probe: str, stratum: str, part: str, golden: str | None) -> str:
    """Return a prompt stratum's name: markers of an earlier trial of it are stale, not foreign.

    A golden prompt is one and the same however it was asked, streamed or not.
    """
    return f"{probe}/{golden}" if golden else f"{probe}/{stratum}/{part}"
