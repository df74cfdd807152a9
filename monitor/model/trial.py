"""What was set out to be shown, and what was asked for it: trials, exchanges, markers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.model.wire import Failure, FailureKind, Request, Response, Timing


class Part(StrEnum):
    """The part an exchange plays in its trial."""

    DONOR = "donor"
    VICTIM = "victim"
    MEMBER = "member"
    CONTROL = "control"
    TURN = "turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """To whom a marker belongs. ``stratum_key`` names its conversation or prompt stratum."""

    target: str
    tenant: str
    isolation: str
    trial: str
    exchange: int
    epoch: str
    stratum_key: str


class ValueKind(StrEnum):
    """What a planted value looks like: one field of a made-up customer's record."""

    NAME = "name"
    EMAIL = "email"
    CARD = "card"
    PHONE = "phone"
    ACCOUNT = "account"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A registered string: a code of four proquint groups, or a planted value.

    ``kind`` is ``nonce`` or ``planted`` for a code, else the ``ValueKind`` of the value.
    """

    id: str
    text: str
    owner: Owner
    kind: str
    minted_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact a right answer holds. ``lost`` names it in an explanation, never its text."""

    name: str
    any_of: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Needle:
    """A fact planted at a ``place`` (head, middle, tail) of a long prompt."""

    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a healthy target does with one exchange.

    ``nonce`` must be echoed; ``answers`` hold the task's own answer; ``golden`` names a golden
    prompt; ``answer_bits`` is log2 of the space the task's answer was drawn from.
    ``limit_tokens`` and ``size_tokens`` (± ``size_error_tokens``) say where a boundary exchange
    stands. ``tool`` must be called. ``obey`` is what an instruction in the ``obey_role`` message
    asks of every answer. ``reference`` is the trial's exchange that was asked the same; the two
    must agree in what was extracted, whatever ``comparison`` (warm, salted, concurrent, stream)
    sets them apart. ``turn`` counts from 1 within a conversation, 0 outside of one.
    ``border_input`` names a prompt whose first token was undecided when the target was healthy;
    nothing else is expected of its answer. ``counts_to`` is the number that the question asks to
    count to from 1, whether or not the request lets it come so far.
    """

    nonce: str | None = None
    answers: tuple[Fact, ...] = ()
    answer_bits: float = 0.0
    answer_task: str = ""
    golden: str | None = None
    golden_version: str = ""
    needles: tuple[Needle, ...] = ()
    limit_tokens: int | None = None
    limit_source: str = ""
    size_tokens: int | None = None
    size_error_tokens: int = 0
    boundary: str = ""
    truncation_accepted: bool = False
    tool: str = ""
    obey: Fact | None = None
    obey_role: str = ""
    reference: int | None = None
    comparison: str = ""
    turn: int = 0
    border_input: str = ""
    counts_to: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request to one target and what came back: a response, a failure, or both (cut).

    ``request_id`` is what the target's operator calls it; ``sent_request_id`` is the random id that
    we sent along, empty if the configuration sends one of its own.
    """

    index: int
    part: Part
    tenant: str
    isolation: str
    request: Request
    expectation: Expectation
    timing: Timing
    response: Response | None = None
    failure: Failure | None = None
    http_status: int | None = None
    request_id: str | None = None
    sent_request_id: str = ""

    @property
    def refused(self) -> bool:
        """True if the target properly refused the prompt as too long."""
        return self.failure is not None and self.failure.kind is FailureKind.REFUSED

    @property
    def cancelled(self) -> bool:
        """True if we broke it off on purpose."""
        return self.failure is not None and self.failure.kind is FailureKind.CANCELLED

    @property
    def whole(self) -> bool:
        """True if there is a complete answer to judge for what it lacks."""
        return self.response is not None and self.failure is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of one probe on one target.

    A trial that confirms a finding (``confirms``) is not ``scheduled`` and counts in no SLI; it
    ``replays`` the prompts of another trial, markers included. One that ``examines`` a finding was
    asked for by a person, and is not scheduled either.
    """

    id: str
    target: str
    model: str
    probe: str
    shape: str
    stratum: str
    started_at: datetime
    exchanges: tuple[Exchange, ...]
    purpose: str
    scheduled: bool = True
    confirms: str = ""
    replays: str = ""
    examines: str = ""
    broken: str = ""
