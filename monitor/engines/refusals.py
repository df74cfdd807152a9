"""Telling the proper refusal of an over-length prompt from every other error.

A refusal is what a healthy engine does above its limit, so a wrong "yes" here would call a broken
target good: only known wordings and codes count, and only with a status that blames the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from monitor.engines.dialects import (
    DIALECTS,
    LIMIT_TOKENS,
    NOT_ABOUT_LENGTH,
    OUTPUT_TOKENS,
    PROMPT_TOKENS,
    Dialect,
)
from monitor.engines.faults import FaultList
from monitor.engines.json_text import NotJsonError, parse_json
from monitor.model import Failure, FailureKind

_BLAMES_REQUEST = frozenset({400, 413, 422})
_MAX_BODY = 200_000
_MAX_TEXT = 20_000
_MAX_VALUE = 4_000
_MAX_DEPTH = 6
_SPEAKING_KEYS = frozenset(
    [
        "error",
        "errors",
        "message",
        "msg",
        "detail",
        "details",
        "code",
        "type",
        "error_type",
        "error_code",
        "metadata",
        "raw",
        "result",
        "choices",
        "base_resp",
        "status_code",
        "status_msg",
        "n_prompt_tokens",
        "n_ctx",
        "innererror",
        "reason",
        "loc",
    ]
)

_STATUS_WORDS = {
    401: "unauthorised: the credential was not accepted",
    402: "payment required: the account has no credit",
    403: "forbidden: the credential does not allow this",
    404: "not found: the URL or the model does not exist there",
    408: "the target gave up waiting",
    413: "the request is too large",
    429: "rate limited",
}
_QUOTA_USED_UP = re.compile(
    r"insufficient_quota|^code: (?:3036|1113|1304|1308|1309)$", re.MULTILINE
)
# Workers AI: out of neurons, out of capacity, timeout, abort. z.ai: credentials, balance, blocked
# content, too many at once or too often, over the day's or the plan's limit, its own faults.
_STATUS_OF_CODE = {
    **dict.fromkeys((3036, 3040, 1302, 1303, 1304, 1305, 1308, 1309), 429),
    **dict.fromkeys((3007, 3008), 408),
    **dict.fromkeys((1000, 1001, 1002, 1003, 1004), 401),
    **dict.fromkeys((1200, 1230, 1234), 500),
    1113: 402,
    1301: 400,
}
# MiniMax answers 200 and says the rest in the body. Its 1039 is a rate of tokens, not a length.
_STATUS_OF_MINIMAX = {
    **dict.fromkeys((1002, 1039, 1041, 2045, 2056), 429),
    **dict.fromkeys((1004, 2049), 401),
    **dict.fromkeys((1000, 1024, 1033), 500),
    **dict.fromkeys((1026, 1027, 1042, 2013), 400),
    1001: 408,
    1008: 402,
}
_STATUS_OF_KIND = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "server_error": 500,
    "internal_server_error": 500,
    "internal_error": 500,
    "internalservererror": 500,
    "api_error": 500,
    "timeout_error": 408,
    "service_unavailable": 503,
    "service_unavailable_error": 503,
}
_MINIMAX_CODE = re.compile(r"^status_code: (\d{4})$", re.MULTILINE)
_KIND_OF_ERROR = re.compile(
    rf"^(?:type|code|error_type): ({'|'.join(_STATUS_OF_KIND)})$", re.MULTILINE | re.IGNORECASE
)
_BUSINESS_CODE = re.compile(r"^(?:code|error_code): (\d{3,6})$", re.MULTILINE)


def classify_refusal(status: int, body: object) -> Failure | None:
    """Return the refusal of an over-length prompt that ``body`` states, else ``None``.

    ``body`` is bytes, text or a parsed document. The numbers are those the target states.
    """
    return _refusal_in(_flatten(body), status)


def classify_status(status: int, body: object) -> Failure:
    """Return what a status of 400 and above means: a refusal, or the status with our own words."""
    text = _flatten(body)
    return _refusal_in(text, status) or _status_failure(status, text)


def classify_error_in_200(document: object, *, event_name: str = "message") -> Failure | None:
    """Return the failure that a document or event states though the status was 200, if it does.

    A refusal counts whatever code it carries: the status was sent before it was known.
    """
    if not _states_error(document) and event_name != "error":
        return None
    text = _flatten(document)
    match = _BUSINESS_CODE.search(text)
    code = int(match[1]) if match else None
    for status in (min(_BLAMES_REQUEST), code):
        if status is not None and (refusal := _refusal_in(text, status)):
            return replace(refusal, code=code)
    if (status := _meant_status(code, text)) is not None:
        return _status_failure(status, text)
    detail = "an error in a reply of status 200"
    return Failure(kind=FailureKind.PROTOCOL, detail=detail, code=code)


def _meant_status(code: int | None, text: str) -> int | None:
    """Return the status that an error sent too late for one would have had, if it tells."""
    if code is not None and 400 <= code < 600:  # noqa: PLR2004 - HTTP's errors
        return code
    if code in _STATUS_OF_CODE:
        return _STATUS_OF_CODE[code]
    if match := _MINIMAX_CODE.search(text):
        return _STATUS_OF_MINIMAX.get(int(match[1]))
    match = _KIND_OF_ERROR.search(text)
    return _STATUS_OF_KIND[match[1].lower()] if match else None


def _states_error(document: object) -> bool:
    if not isinstance(document, dict):
        return False
    if document.get("error") or document.get("object") == "error":
        return True
    if document.get("success") is False and document.get("errors"):
        return True
    if document.get("code") and isinstance(document.get("message"), str):
        return "choices" not in document and "response" not in document
    minimax = document.get("base_resp")
    if isinstance(minimax, dict) and minimax.get("status_code") not in (None, 0, "0"):
        return True
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and bool(first.get("error"))


def _refusal_in(text: str, status: int) -> Failure | None:
    if NOT_ABOUT_LENGTH.search(text):
        return None
    for dialect in DIALECTS:
        if dialect.only_status != status and (
            dialect.only_status is not None or status not in _BLAMES_REQUEST
        ):
            continue
        if match := dialect.pattern.search(text):
            return _refusal(dialect, match, text, status)
    return None


def _refusal(dialect: Dialect, match: re.Match[str], text: str, status: int) -> Failure | None:
    stated = match.groupdict()
    limit = _number(stated.get("limit")) or _search(LIMIT_TOKENS, text)
    prompt = _number(stated.get("prompt")) or _search(PROMPT_TOKENS, text)
    output = _search(OUTPUT_TOKENS, text)
    if output is not None and limit is not None and output >= limit:
        return None  # no prompt at all would have fitted beside so much output
    return Failure(
        kind=FailureKind.REFUSED,
        detail=f"over-length prompt refused, in the words of {dialect.name}",
        code=status,
        limit_tokens=limit,
        prompt_tokens=prompt,
    )


def _status_failure(status: int, text: str) -> Failure:
    words = _STATUS_WORDS.get(status)
    if words is None:
        words = "server error" if status >= 500 else "request not accepted"  # noqa: PLR2004
    if status == 429 and _QUOTA_USED_UP.search(text):  # noqa: PLR2004
        words = "the quota is used up"
    match = _BUSINESS_CODE.search(text)
    if match and int(match[1]) != status:
        words = f"{words} (error code {match[1]})"
    return Failure(kind=FailureKind.HTTP_STATUS, detail=words, code=status)


def _flatten(body: object) -> str:
    """Return what ``body`` says as lines ``key: value``, bounded; a text that is no JSON as is."""
    if isinstance(body, bytes | bytearray):
        body = bytes(body[:_MAX_BODY]).decode("utf-8", errors="replace")
    if isinstance(body, str):
        try:
            body = parse_json(body[:_MAX_BODY], FaultList())
        except NotJsonError:
            return str(body)[:_MAX_TEXT]
    return "\n".join(_lines(body, "message", 0))[:_MAX_TEXT]


def _lines(value: object, key: str, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in _SPEAKING_KEYS:
                yield from _lines(inner, name, depth + 1)
    elif isinstance(value, list):
        for inner in value[:20]:
            yield from _lines(inner, key, depth + 1)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield f"{key}: {' '.join(str(value)[:_MAX_VALUE].split())}"


def _search(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return _number(next((group for group in match.groups() if group), None)) if match else None


def _number(digits: str | None) -> int | None:
    whole = re.sub(r"[,_]", "", (digits or "").partition(".")[0])
    return int(whole) if whole else None
