"""What a check may know of the past: a read-only view, filled by the pipeline alone."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from monitor.canaries import MarkerRegistry, PartialEvidence
from monitor.model import Calibration, Exchange, Measurement, Owner, Request, Trial
from monitor.prompts import GoldenPrompt

# Enough to see a plateau or a reused id; small enough for thousands of targets.
REMEMBERED_EXCHANGES = 256

OwnerKey = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What is remembered of an earlier exchange of the same target.

    ``least_bytes`` are those of the messages alone: some gateways count no tools and no schema.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """What the configuration says about judging one target's answers.

    ``sensitive_terms`` must not stand in an answer unless they were given to it; ``allowed``
    values (addresses, numbers) are nobody's secret.
    """

    sensitive_terms: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The past of one target as a check sees it, and what was measured of the trial at hand.

    ``weak_model`` is true where the target's tolerance says that wrong answers are ordinary:
    what only a strong model never does is then no proof against the engine. ``measured`` is by
    the exchange's index; what is not there was not measured.
    """

    registry: MarkerRegistry
    golden: Mapping[str, GoldenPrompt] = field(default_factory=dict)
    earlier: tuple[Observation, ...] = ()
    weak_model: bool = False
    settings: JudgeSettings = JudgeSettings()
    calibration: Calibration | None = None
    measured: Mapping[int, Measurement] = field(default_factory=dict)


class Memory:
    """The last exchanges of one target, from which ``History`` views are cut."""

    def __init__(self) -> None:
        self._seen: deque[Observation] = deque(maxlen=REMEMBERED_EXCHANGES)

    def recall(self) -> tuple[Observation, ...]:
        """Return what is remembered, oldest first."""
        return tuple(self._seen)

    def remember(self, observations: list[Observation]) -> None:
        """Add a trial's exchanges."""
        self._seen.extend(observations)


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
        model=response.model if response else None,
        size_tokens=exchange.expectation.size_tokens,
        size_error_tokens=exchange.expectation.size_error_tokens,
        stale_from=stale_from,
        parts=parts,
    )


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
