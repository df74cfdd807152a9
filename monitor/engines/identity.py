"""Who answered: the headers by which an operator finds an exchange in a gateway's logs."""

from __future__ import annotations

from monitor.http import RawReply

_NAMES = frozenset({"x-request-id", "cf-ray", "cf-ai-req-id", "server", "via"})
_PREFIXES = ("x-litellm-", "openai-", "llm_provider-")
MAX_HEADERS = 40
MAX_CHARS = 200


def identity_headers(reply: RawReply) -> tuple[tuple[str, str], ...]:
    """Return the identity headers, bounded in number and length; every other one is dropped."""
    return tuple(
        (name, value[:MAX_CHARS])
        for name, value in reply.headers
        if (name in _NAMES or name.startswith(_PREFIXES)) and "cookie" not in name
    )[:MAX_HEADERS]


def request_id(reply: RawReply, response_id: str | None) -> str | None:
    """Return the id to ask the operator about: a header's, else the body's."""
    header = reply.header("x-request-id") or reply.header("cf-ray")
    return header[:MAX_CHARS] if header else response_id
