"""A chat completion that came as events: fragments to one response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from monitor.engines.faults import Fault, FaultList
from monitor.engines.identity import identity_fields
from monitor.engines.json_text import NotJsonError, parse_json
from monitor.engines.logprobs import MAX_TOKENS, read_logprobs
from monitor.engines.openai_body import Parsed, protocol_failure
from monitor.engines.openai_fields import (
    MAX_ARGUMENT_CHARS,
    MAX_TEXT_CHARS,
    MAX_TOOL_CALLS,
    Fragment,
    clean,
    is_object,
    object_at,
    read_content,
    read_fragments,
    read_name,
    read_reasoning,
    read_usage,
    to_tool_calls,
)
from monitor.engines.refusals import classify_error_in_200
from monitor.engines.sse import SseEvent
from monitor.model import Failure, FailureKind, Response, TokenLogprob, Usage

Translate = Callable[[dict[str, object]], dict[str, object]]


class StreamReader:
    """Takes the events in order and keeps the answer so far, so that a cut loses nothing.

    ``finished`` is true once nothing that follows can matter: after ``[DONE]`` or an error.
    ``pieces`` counts the events that carried a part of the answer, ``longest_gap_seconds`` is the
    longest pause between two of them. ``translate`` turns an event of another dialect into one of
    this; one that never says why it ended is not ``finish_expected``.
    """

    def __init__(
        self,
        *,
        usage_expected: bool,
        finish_expected: bool = True,
        translate: Translate | None = None,
    ) -> None:
        self.faults = FaultList()
        self.finished = False
        self.events = 0
        self.pieces = 0
        self.first_token_seconds: float | None = None
        self.longest_gap_seconds: float | None = None
        self._last_piece_seconds = 0.0
        self._usage_expected = usage_expected
        self._finish_expected = finish_expected
        self._translate = translate
        self._failure: Failure | None = None
        self._done = False
        self._chunks = 0
        self._text = _Text()
        self._reasoning = _Text()
        self._calls: dict[int, Fragment] = {}
        self._names: dict[str, str] = {}
        self._logprobs: list[TokenLogprob] = []
        self._identity: dict[str, str] = {}
        self._usage: object = None
        self._usage_seen = False

    def take(self, event: SseEvent, seconds: float) -> None:
        """Take the next event, which arrived ``seconds`` after the request was sent."""
        if self.finished:
            if self._done:
                self.faults.add(Fault.DATA_AFTER_DONE)
            return
        self.events += 1
        if event.data.strip() == b"[DONE]":
            self.finished = self._done = True
            return
        try:
            chunk = parse_json(event.data, self.faults)
        except NotJsonError:
            self.faults.add(Fault.EVENT_NOT_JSON)
            return
        self._failure = classify_error_in_200(chunk, event_name=event.name)
        self.finished = self._failure is not None
        if is_object(chunk):
            self._take_chunk(self._translate(chunk) if self._translate else chunk, seconds)
        elif not self.finished:
            self.faults.add(Fault.EVENT_NOT_OBJECT)

    def result(self, wire_failure: Failure | None) -> Parsed:
        """Return the answer, whole or partial, and what is wrong with it."""
        failure = self._failure or wire_failure or self._own_failure()
        if not self._chunks:
            return None, failure
        response = self._response(complete=failure is None)
        anything = response.text or response.reasoning_text or response.tool_calls
        return (response if anything or failure is None else None), failure

    def _own_failure(self) -> Failure | None:
        if not self._chunks:
            return protocol_failure("the stream holds no completion")
        if not self._done and "finish_reason" not in self._names:
            detail = "the stream ended without a finish reason or [DONE]"
            return Failure(kind=FailureKind.CUT_STREAM, detail=detail)
        return None

    def _take_chunk(self, chunk: dict[str, object], seconds: float) -> None:
        choices = chunk.get("choices")
        if isinstance(choices, list):
            self._chunks += 1
            for field, value in identity_fields(chunk):
                self._identity.setdefault(field, value)
            self._note("id", chunk.get("id"), Fault.ID_NOT_TEXT, Fault.ID_CHANGED_IN_STREAM)
            self._note(
                "model", chunk.get("model"), Fault.MODEL_NOT_TEXT, Fault.MODEL_CHANGED_IN_STREAM
            )
            self._note(
                "system_fingerprint",
                chunk.get("system_fingerprint"),
                Fault.SYSTEM_FINGERPRINT_NOT_TEXT,
            )
            self._take_choices(choices, seconds)
        elif not self.finished and "usage" not in chunk:
            self.faults.add(Fault.EVENT_NOT_OBJECT)
        if "usage" in chunk:
            self._usage_seen = True
            self._usage = self._usage if chunk["usage"] is None else chunk["usage"]

    def _take_choices(self, choices: list[object], seconds: float) -> None:
        for choice in choices:
            if not is_object(choice) or choice.get("index", 0) != 0 or choice is not choices[0]:
                self.faults.add(Fault.DUPLICATE_CHOICES)
                continue
            self._note(
                "finish_reason",
                choice.get("finish_reason"),
                Fault.FINISH_REASON_NOT_TEXT,
                Fault.FINISH_REASON_CHANGED,
            )
            room = MAX_TOKENS - len(self._logprobs)
            self._logprobs += read_logprobs(choice, self.faults, room=room)
            self._take_delta(object_at(choice, "delta"), seconds)

    def _take_delta(self, delta: dict[str, object], seconds: float) -> None:
        content = read_content(delta.get("content"), self.faults)
        reasoning = read_reasoning(delta, self.faults)
        fragments = read_fragments(delta.get("tool_calls"), self.faults)
        self._text.add(content)
        self._reasoning.add(reasoning)
        for fragment in fragments:
            self._take_fragment(fragment)
        if content or reasoning or fragments:
            self._time_piece(seconds)

    def _time_piece(self, seconds: float) -> None:
        self.pieces += 1
        if self.first_token_seconds is None:
            self.first_token_seconds = seconds
        else:
            gap = seconds - self._last_piece_seconds
            self.longest_gap_seconds = max(gap, self.longest_gap_seconds or 0.0)
        self._last_piece_seconds = seconds

    def _take_fragment(self, fragment: Fragment) -> None:
        index = fragment.index
        if index is None:
            self.faults.add(Fault.TOOL_CALL_MALFORMED)
            index = max(self._calls, default=-1) + (1 if fragment.name else 0)
        before = self._calls.get(index)
        if before is None and len(self._calls) > MAX_TOOL_CALLS:
            return
        if before is None:
            self._calls[index] = fragment
        elif len(before.arguments) <= MAX_ARGUMENT_CHARS:
            name = before.name if fragment.name == before.name else before.name + fragment.name
            self._calls[index] = replace(
                before,
                name=name,
                arguments=before.arguments + fragment.arguments,
                id=before.id or fragment.id,
            )

    def _note(self, name: str, value: object, wrong: Fault, changed: Fault | None = None) -> None:
        """Keep the first ``value`` of ``name``; a later one that differs may be a fault."""
        text = read_name(value, wrong, self.faults)
        if not text:
            return
        if self._names.setdefault(name, text) != text and changed:
            self.faults.add(changed)

    def _response(self, *, complete: bool) -> Response:
        calls = [self._calls[index] for index in sorted(self._calls)]
        text = clean(self._text.value(), self.faults)
        reasoning = clean(self._reasoning.value(), self.faults)
        tool_calls = to_tool_calls(calls, self.faults)
        usage = self._read_usage(complete=complete)
        if complete:
            self._note_what_is_missing()
        return Response(
            text=text,
            tool_calls=tool_calls,
            reasoning_text=reasoning,
            finish_reason=self._names.get("finish_reason"),
            usage=usage,
            logprobs=tuple(self._logprobs),
            model=self._names.get("model"),
            response_id=self._names.get("id"),
            system_fingerprint=self._names.get("system_fingerprint"),
            headers=tuple(self._identity.items()),
        )

    def _read_usage(self, *, complete: bool) -> Usage:
        if self._usage is not None:
            return read_usage(self._usage, self.faults)
        if complete and self._usage_expected:
            self.faults.add(Fault.USAGE_NULL if self._usage_seen else Fault.USAGE_MISSING)
        return Usage()

    def _note_what_is_missing(self) -> None:
        if not self._done:
            self.faults.add(Fault.MISSING_DONE)
        if self._finish_expected and "finish_reason" not in self._names:
            self.faults.add(Fault.FINISH_REASON_MISSING)


class _Text:
    """Text in pieces, of bounded length."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._chars = 0

    def add(self, piece: str) -> None:
        if piece and self._chars <= MAX_TEXT_CHARS:
            self._pieces.append(piece)
            self._chars += len(piece)

    def value(self) -> str:
        return "".join(self._pieces)
