"""Small requests beside the question itself: one JSON document from the target, or why not."""

from __future__ import annotations

import json
from collections.abc import Mapping

from monitor.engines.faults import FaultList
from monitor.engines.json_text import MAX_VALUES, NotJsonError, parse_json
from monitor.http import PLAIN_AGENT, HttpClient, RawReply


def bearer(credential: str | None, *, tagged: bool = True) -> dict[str, str]:
    """Return the headers of every request; the credential goes nowhere else.

    One that is not ``tagged`` names only the library we use, not us.
    """
    agent = "davylamp" if tagged else PLAIN_AGENT
    headers = {"User-Agent": agent, "Content-Type": "application/json"}
    return headers | ({"Authorization": f"Bearer {credential}"} if credential else {})


class Refused(Exception):  # noqa: N818 - not an error: most targets serve few of these paths
    """The target does not serve this; ``status`` is what it said, ``why`` our word for it."""

    def __init__(self, why: str, status: int | None) -> None:
        super().__init__(why)
        self.why = why
        self.status = status


async def fetch_json(
    http: HttpClient,
    url: str,
    *,
    credential: str | None,
    timeout_seconds: float,
    post: Mapping[str, object] | None = None,
    body_bytes: int | None = None,
    max_values: int = MAX_VALUES,
) -> object:
    """GET ``url``, or POST ``post`` to it, and return the document of a 200, or raise."""
    raw = await http.send(
        "GET" if post is None else "POST",
        url,
        headers=bearer(credential),
        body=None if post is None else json.dumps(post).encode(),
        timeout_seconds=timeout_seconds,
        body_bytes=body_bytes,
    )
    return _document(raw, max_values)


def _document(raw: RawReply, max_values: int) -> object:
    if raw.failure is not None:
        raise Refused(raw.failure.detail, raw.status)
    if raw.status != 200:  # noqa: PLR2004
        raise Refused(f"HTTP {raw.status}", raw.status)
    try:
        return parse_json(raw.body, FaultList(), max_values=max_values)
    except NotJsonError as error:
        raise Refused(f"no JSON document: {error.reason}", raw.status) from None
