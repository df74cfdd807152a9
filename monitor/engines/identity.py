"""Who answered: what lets an operator find an exchange in a server's or a gateway's logs."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.http import RawReply

# In the order of preference for the id to ask about.
_REQUEST_IDS = (
    "x-request-id",
    "request-id",
    "x-litellm-call-id",
    "cf-ai-req-id",
    "x-ds-trace-id",
    "x-amzn-requestid",
    "apim-request-id",
    "x-trace-id",
    "x-log-id",
    "cf-ray",
)
_NAMES = frozenset({*_REQUEST_IDS, "server", "via", "x-served-by", "x-generation-id"})
_PREFIXES = ("x-litellm-", "openai-", "llm_provider-", "cf-aig-", "cf-ai-", "x-vllm-", "x-sglang-")
_FIELDS = ("provider", "request_id", "service_tier")
MAX_HEADERS = 40
MAX_CHARS = 200


def identity_headers(reply: RawReply) -> tuple[tuple[str, str], ...]:
    """Return the identity headers, bounded in number and length; every other one is dropped."""
    return tuple(
        (name, value[:MAX_CHARS])
        for name, value in reply.headers
        if (name in _NAMES or name.startswith(_PREFIXES)) and "cookie" not in name
    )[:MAX_HEADERS]


def identity_fields(document: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a body that say who answered, named ``body.<field>`` and bounded.

    OpenRouter's ``provider``, z.ai's ``request_id``.
    """
    found = ((name, document.get(name)) for name in _FIELDS)
    return tuple(
        (f"body.{name}", value[:MAX_CHARS].encode(errors="replace").decode())
        for name, value in found
        if isinstance(value, str) and value
    )


def request_id(reply: RawReply, response_id: str | None) -> str | None:
    """Return the id to ask the operator about: a header's, else the body's."""
    found = (reply.header(name) for name in _REQUEST_IDS)
    header = next((value for value in found if value), None)
    return header[:MAX_CHARS] if header else response_id
