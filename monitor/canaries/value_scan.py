"""Find planted values of somebody else in an answer."""

from __future__ import annotations

from collections import Counter

from monitor.canaries.candidates import Candidate, candidates
from monitor.canaries.evidence import MatchKind, value_bits
from monitor.canaries.match import Match
from monitor.canaries.registry import Entry, MarkerRegistry
from monitor.canaries.values import PART_DIGITS, SHAPES, Form

_BOTH_ENDS = 2


def scan_values(answer: str, request: str, registry: MarkerRegistry) -> tuple[Match, ...]:
    """Return the planted values of the registry in ``answer`` that ``request`` does not contain.

    The best match of each value is kept; those worth nothing are dropped. What an answer shows is
    looked up by keyed hashes, so the time does not grow with the registry.
    """
    if not registry.values:
        return ()
    places: Counter[tuple[str, Form]] = Counter()
    hits: list[tuple[Candidate, Entry]] = []
    for candidate in candidates(answer):
        places[candidate.kind, candidate.form] += 1
        entry = registry.with_value(candidate.kind, candidate.form, candidate.key)
        if entry is not None:
            hits.append((candidate, entry))
    if not hits:
        return ()
    own = {(each.kind, each.form, each.key) for each in candidates(request)}
    best: dict[str, Match] = {}
    for candidate, entry in hits:
        if (candidate.kind, candidate.form, candidate.key) in own:
            continue
        match = _match(candidate, entry, len(registry), places[candidate.kind, candidate.form])
        known = best.get(entry.id)
        if match.net_bits > 0 and (known is None or known.net_bits < match.net_bits):
            best[entry.id] = match
    return tuple(best.values())


def _match(candidate: Candidate, entry: Entry, entries: int, places: int) -> Match:
    shape, form = SHAPES[candidate.kind], candidate.form
    whole = form is Form.WHOLE
    ends = 1 if whole else _BOTH_ENDS
    return Match(
        kind=MatchKind.VALUE if whole else MatchKind.VALUE_PART,
        places=(0,),
        net_bits=value_bits(shape.bits(form), entries=entries, places=places, ends=ends),
        spans=((candidate.start, candidate.end),),
        words=_words(candidate),
        marker_id=entry.id,
        owner=entry.owner,
        expired=entry.groups is None,
    )


def _words(candidate: Candidate) -> str:
    shape, form = SHAPES[candidate.kind], candidate.form
    if not shape.digits:
        return f"{shape.words} (exact)"
    if form is Form.WHOLE:
        return f"{shape.words} of {shape.digits} digits (exact)"
    return f"{form.name.lower()} {PART_DIGITS} of {shape.digits} digits of a {shape.words}"
