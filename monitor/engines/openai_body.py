"""A chat completion that came whole: one JSON body to one response or failure."""

from __future__ import annotations

from monitor.engines.faults import Fault, FaultList
from monitor.engines.identity import identity_fields
from monitor.engines.json_text import NotJsonError, parse_json
from monitor.engines.logprobs import read_logprobs
from monitor.engines.openai_fields import (
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
from monitor.model import Failure, FailureKind, Response, Usage

Parsed = tuple[Response | None, Failure | None]


def parse_completion(body: bytes, faults: FaultList) -> Parsed:
    """Return the answer in ``body``, or why there is none to judge."""
    document, failure = parse_body(body, faults)
    return (None, failure) if failure else read_completion(document, faults)


def parse_body(body: bytes, faults: FaultList) -> tuple[object, Failure | None]:
    """Return the document in ``body``, or why there is none."""
    try:
        return parse_json(body, faults), None
    except NotJsonError as error:
        return None, protocol_failure(f"the body is no JSON document: {error.reason}")


def read_completion(document: object, faults: FaultList) -> Parsed:
    """Return the answer in a parsed ``document``, or why there is none to judge."""
    if failure := classify_error_in_200(document):
        return None, failure
    if not is_object(document):
        return None, protocol_failure("the body is not a JSON object")
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices:
        return None, protocol_failure("the body has no choices")
    if len(choices) > 1:
        faults.add(Fault.DUPLICATE_CHOICES)
    choice = choices[0]
    if not is_object(choice) or not is_object(choice.get("message")):
        return None, protocol_failure("the first choice has no message")
    return _response(document, choice, faults), None


def protocol_failure(detail: str) -> Failure:
    """Return the failure of a 200 that is not the protocol."""
    return Failure(kind=FailureKind.PROTOCOL, detail=detail)


def _response(
    document: dict[str, object], choice: dict[str, object], faults: FaultList
) -> Response:
    message = object_at(choice, "message")
    finish_reason = read_name(choice.get("finish_reason"), Fault.FINISH_REASON_NOT_TEXT, faults)
    if finish_reason is None:
        faults.add(Fault.FINISH_REASON_MISSING)
    fragments = read_fragments(message.get("tool_calls"), faults)
    return Response(
        text=clean(read_content(message.get("content"), faults), faults),
        tool_calls=to_tool_calls(fragments, faults),
        reasoning_text=clean(read_reasoning(message, faults), faults),
        finish_reason=finish_reason,
        usage=_usage(document, faults),
        logprobs=read_logprobs(choice, faults),
        model=read_name(document.get("model"), Fault.MODEL_NOT_TEXT, faults),
        response_id=read_name(document.get("id"), Fault.ID_NOT_TEXT, faults),
        system_fingerprint=read_name(
            document.get("system_fingerprint"), Fault.SYSTEM_FINGERPRINT_NOT_TEXT, faults
        ),
        headers=identity_fields(document),
    )


def _usage(document: dict[str, object], faults: FaultList) -> Usage:
    if "usage" not in document:
        faults.add(Fault.USAGE_MISSING)
        return Usage()
    return read_usage(document["usage"], faults)
