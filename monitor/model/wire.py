"""What goes to a target and what comes back: requests, responses, failures."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

# A hostile answer may be megabytes long; what a healthy one has to say stands well within this.
SAID_CHARACTERS = 200_000


class FailureKind(StrEnum):
    """Why there is no whole answer."""

    CONNECT = "connect"
    TIMEOUT = "timeout"
    HTTP_STATUS = "http_status"
    PROTOCOL = "protocol"
    CUT_STREAM = "cut_stream"
    OVER_BYTE_LIMIT = "over_byte_limit"
    REFUSED = "refused"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The target did not answer properly, or was not let finish.

    ``REFUSED`` is the proper refusal of an over-length prompt. ``CANCELLED`` is our own doing, as
    the request's ``hang_up`` asked. ``detail`` is our own short text (codes and numbers), never
    the target's.
    """

    kind: FailureKind
    detail: str
    code: int | None = None
    limit_tokens: int | None = None
    prompt_tokens: int | None = None
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call as the target wrote it; ``arguments`` is raw JSON text."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the target reports them; ``None`` where it reports nothing.

    Most count cached tokens among the input's, some beside them. ``total_tokens`` is at least input
    and output together; hidden thoughts and cached tokens may stand in it alone.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    """A generated token with its log probability, and the likeliest others at its place."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A whole or partial answer. ``text`` is hostile input: never render or execute it.

    ``other_text`` is all that came back, as it came: error pages, unknown fields, headers; and once
    more in one what came in pieces outside the answer. It is no answer, but it is searched for
    other tenants' text like one. ``pieces`` counts the events of
    a stream that carried a part of the answer; ``None`` if it came whole.
    """

    text: str
    other_text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning_text: str = ""
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    logprobs: tuple[TokenLogprob, ...] = ()
    model: str | None = None
    response_id: str | None = None
    system_fingerprint: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    protocol_faults: tuple[str, ...] = ()
    pieces: int | None = None

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
    """Instants of one exchange; durations in seconds from ``started_at``.

    ``longest_gap_seconds`` is the longest pause between two pieces of a streamed answer; ``None``
    if it had fewer than two.
    """

    started_at: datetime
    total_seconds: float
    first_token_seconds: float | None = None
    longest_gap_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message of a request.

    An assistant's message may hold the tool calls it made; a tool's message answers the call
    ``call_id``.
    """

    role: str
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function the model may call; ``parameters`` is a JSON Schema as JSON text."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp:
    """When to break off an exchange on purpose, whichever comes first.

    ``after_seconds`` from sending; ``after_chunks`` pieces of a streamed answer.
    """

    after_seconds: float | None = None
    after_chunks: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one exchange asks, before an engine puts it into its own dialect.

    ``tool_choice`` is empty (the model decides), ``required``, or a tool's name. ``stop`` is a text
    that an answer ends before. Engines without them leave out ``cache_salt``, ``logprobs`` (how
    many alternatives to return) and ``stop``. A request that is not ``tagged`` carries nothing that
    marks it as a probe.
    """

    messages: tuple[Message, ...]
    max_output_tokens: int
    stream: bool = False
    tools: tuple[Tool, ...] = ()
    tool_choice: str = ""
    json_schema: str | None = None
    temperature: float = 0.0
    seed: int | None = None
    logprobs: int = 0
    cache_salt: str = ""
    stop: str = ""
    hang_up: HangUp | None = None
    tagged: bool = True

    def text(self) -> str:
        """Everything the target was given to read, earlier turns and tools included."""
        tools = (f"{tool.name} {tool.description} {tool.parameters}" for tool in self.tools)
        calls = (
            f"{call.name} {call.arguments}" for message in self.messages for call in message.calls
        )
        schema = [self.json_schema] if self.json_schema else []
        return "\n".join([*(message.content for message in self.messages), *calls, *tools, *schema])
