"""The records everything else passes around: frozen, plain, importing nothing of ours.

Times ending in ``_seconds`` are floats; instants are UTC-aware datetimes.
The words are those of ``docs/glossary.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum

# A hostile answer may be megabytes long; what a healthy one has to say stands well within this.
SAID_CHARACTERS = 200_000


class Outcome(StrEnum):
    """What one exchange, trial or run came to. Four things, never three."""

    GOOD = "good"
    BAD = "bad"
    ERROR = "error"
    INVALID = "invalid"


class Status(StrEnum):
    """What one check says. ``SKIP`` does not apply; ``ERROR`` could not judge."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    ERROR = "error"
    SKIP = "skip"


class VerdictClass(IntEnum):
    """The class of a verdict, larger is worse, so ``max`` picks the one to report."""

    NONE = 0
    SUSPECT = 1
    WRONG = 2
    DRIFT = 3
    UNSAFE_NODE = 4
    CONTRACT = 5
    CORRUPT = 6
    WRONG_INPUT = 7
    CROSSED = 8
    LEAK = 9

    @property
    def label(self) -> str:
        """The name used in metrics, tables and output: ``none`` or e.g. ``LEAK``."""
        return "none" if self is VerdictClass.NONE else self.name


class FailureKind(StrEnum):
    """Why there is no whole answer."""

    CONNECT = "connect"
    TIMEOUT = "timeout"
    HTTP_STATUS = "http_status"
    PROTOCOL = "protocol"
    CUT_STREAM = "cut_stream"
    OVER_BYTE_LIMIT = "over_byte_limit"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The target did not answer properly.

    ``REFUSED`` is the proper refusal of an over-length prompt. ``detail`` is our own short text
    (codes and numbers), never the target's.
    """

    kind: FailureKind
    detail: str
    code: int | None = None
    limit_tokens: int | None = None
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call as the target wrote it; ``arguments`` is raw JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the target reports them; ``None`` where it reports nothing."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A whole or partial answer. ``text`` is hostile input: never render or execute it.

    ``other_text`` is all that came back, as it came: error pages, unknown fields, headers. It is
    no answer, but it is searched for other tenants' text like one.
    """

    text: str
    other_text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning_text: str = ""
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    response_id: str | None = None
    system_fingerprint: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    protocol_faults: tuple[str, ...] = ()

    def written(self) -> str:
        """What the model wrote: text, hidden reasoning, tool names and arguments."""
        calls = (f"{call.name} {call.arguments}" for call in self.tool_calls)
        return "\n".join([self.text, self.reasoning_text, *calls])[:SAID_CHARACTERS]

    def said(self) -> str:
        """Everything that came back: what the model wrote, then ``other_text``.

        Signals' spans point into it.
        """
        return f"{self.written()}\n{self.other_text[:SAID_CHARACTERS]}"

    def answer(self) -> str:
        """What the target gave as its answer: text and tool calls, reasoning left out."""
        calls = (f"{call.name} {call.arguments}" for call in self.tool_calls)
        return "\n".join([self.text, *calls])[:SAID_CHARACTERS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Instants of one exchange; durations in seconds from ``started_at``."""

    started_at: datetime
    total_seconds: float
    first_token_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message of a request."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function the model may call; ``parameters`` is a JSON Schema as JSON text."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one exchange asks, before an engine puts it into its own dialect."""

    messages: tuple[Message, ...]
    max_output_tokens: int
    stream: bool = False
    tools: tuple[Tool, ...] = ()
    json_schema: str | None = None
    temperature: float = 0.0

    def text(self) -> str:
        """Everything the target was given to read, earlier turns and tools included."""
        tools = (f"{tool.name} {tool.description} {tool.parameters}" for tool in self.tools)
        return "\n".join([*(message.content for message in self.messages), *tools])


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A registered string: a nonce (four proquint groups) or a planted value."""

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
    stands; ``may_answer`` and ``must_refuse`` are what the limit then asks for.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request to one target and what came back: a response, a failure, or both (cut)."""

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

    @property
    def refused(self) -> bool:
        """True if the target properly refused the prompt as too long."""
        return self.failure is not None and self.failure.kind is FailureKind.REFUSED

    @property
    def whole(self) -> bool:
        """True if there is a complete answer to judge for what it lacks."""
        return self.response is not None and self.failure is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of one probe on one target."""

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
    broken: str = ""


class SignalKind(StrEnum):
    """Whether a failed signal is something a healthy engine never does."""

    HARD = "hard"
    TOLERATED = "tolerated"
    FLAG = "flag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What one check says of one exchange.

    ``code`` and ``variant`` together have a row in ``verdicts.CONSEQUENCES``. ``explanation`` is
    a template filled with codes and numbers, never model text. ``evidence_bits`` are net.
    """

    code: str
    status: Status
    exchange: int
    variant: str = ""
    explanation: str = ""
    evidence_bits: float | None = None
    score: float | None = None
    owner: Owner | None = None
    marker_id: str | None = None
    places: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeVerdict:
    """The judgement of one exchange, the unit that SLIs count."""

    exchange: int
    outcome: Outcome
    verdict_class: VerdictClass
    reason: str
    hard: bool = False
    tolerated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The waist of the hourglass: complete, self-describing, never changed after it is made."""

    id: str
    source: str
    trial: str
    target: str
    model: str
    probe: str
    shape: str
    stratum: str
    decided_at: datetime
    outcome: Outcome
    verdict_class: VerdictClass
    reason: str
    signals: tuple[Signal, ...]
    exchanges: tuple[ExchangeVerdict, ...]
    checks_version: str
    scheduled: bool = True
    finding: str | None = None
