"""What a search of an answer returns: a marker or a planted value that is not its own."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.canaries.evidence import MatchKind
from monitor.model import Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A marker or a planted value that the request does not contain, found in the answer.

    ``places`` are the positions (0..3) of the marker's groups that matched, 0 for a value;
    ``owner`` is ``None`` for a marker with a valid tag that the registry does not know.
    ``spans`` are half-open places in the answer. ``words`` say what matched, never its text.
    """

    kind: MatchKind
    places: tuple[int, ...]
    net_bits: float
    spans: tuple[tuple[int, int], ...]
    words: str
    marker_id: str | None = None
    owner: Owner | None = None
    expired: bool = False
