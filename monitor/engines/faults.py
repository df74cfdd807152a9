"""The fixed codes of what can be odd about an answer that is there all the same."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """How an answer departs from the protocol. No healthy engine of any kind does any of these.

    What engines merely do differently (``content: null`` beside tool calls, no role, a usage
    event without choices) is not a fault.
    """

    CONTENT_NOT_TEXT = "content_not_text"
    DATA_AFTER_DONE = "data_after_done"
    DUPLICATE_CHOICES = "duplicate_choices"
    DUPLICATE_KEYS = "duplicate_keys"
    EVENT_NOT_JSON = "event_not_json"
    EVENT_NOT_OBJECT = "event_not_object"
    FINISH_REASON_CHANGED = "finish_reason_changed"
    FINISH_REASON_MISSING = "finish_reason_missing"
    FINISH_REASON_NOT_TEXT = "finish_reason_not_text"
    ID_CHANGED_IN_STREAM = "id_changed_in_stream"
    ID_NOT_TEXT = "id_not_text"
    INVALID_NUMBER = "invalid_number"
    INVALID_UTF8 = "invalid_utf8"
    LOGPROBS_MALFORMED = "logprobs_malformed"
    LONE_SURROGATE = "lone_surrogate"
    MISSING_DONE = "missing_done"
    MODEL_CHANGED_IN_STREAM = "model_changed_in_stream"
    MODEL_NOT_TEXT = "model_not_text"
    NOT_STREAMED = "not_streamed"
    SYSTEM_FINGERPRINT_NOT_TEXT = "system_fingerprint_not_text"
    TEXT_TOO_LONG = "text_too_long"
    TOOL_CALL_MALFORMED = "tool_call_malformed"
    TOO_MANY_TOOL_CALLS = "too_many_tool_calls"
    USAGE_INVALID = "usage_invalid"
    USAGE_MISSING = "usage_missing"
    USAGE_NULL = "usage_null"
    WRONG_CONTENT_TYPE = "wrong_content_type"


class FaultList:
    """The faults of one answer, each once, in the order first seen."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}

    def add(self, fault: Fault) -> None:
        """Note ``fault``."""
        self._seen.setdefault(fault.value)

    def codes(self) -> tuple[str, ...]:
        """Return the codes noted so far."""
        return tuple(self._seen)
