"""What may be kept of hostile or private text: lengths, places, keyed hashes, our own markers."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable

from monitor.canaries import InstallationKey

_HASH_BYTES = 16
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@+-]{0,127}")
_FINISH_REASONS = frozenset(
    {
        *("stop", "length", "tool_calls", "function_call", "content_filter", "end_turn"),
        *("max_tokens", "stop_sequence", "eos", "eos_token", "abort", "error", "cancelled"),
    }
)


class EvidenceHasher:
    """Keyed hashes of text, equal for equal text of one installation and useless outside it."""

    __slots__ = ("_key",)

    def __init__(self, key: InstallationKey) -> None:
        self._key = key.derive("evidence")

    def __call__(self, text: str) -> str:
        """Return 128 bits of HMAC-SHA256 in hex; empty for empty text."""
        if not text:
            return ""
        digest = hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), "sha256")
        return digest[:_HASH_BYTES].hex()

    def identifier(self, text: str | None) -> str:
        """Return an id the target wrote, or its hash where it does not look like one."""
        if not text or _IDENTIFIER.fullmatch(text):
            return text or ""
        return f"hashed-{self(text)}"


def finish_reason(text: str | None) -> str:
    """Return a finish reason that is known, ``other``, or empty: the target writes it freely."""
    if not text:
        return ""
    return text if text in _FINISH_REASONS else "other"


def redact(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with everything outside ``spans`` replaced by its length.

    Only spans of our own markers and planted values may be given: they stay in clear.
    """
    parts: list[str] = []
    place = 0
    for start, end in sorted(spans):
        if end <= place:
            continue
        parts += [_hidden(max(start - place, 0)), text[max(start, place) : end]]
        place = end
    return "".join([*parts, _hidden(len(text) - place)])


def _hidden(characters: int) -> str:
    return f"[{characters} characters]" if characters > 0 else ""
