"""Find markers and planted values in an answer: own, near-own, and those of somebody else.

Every proquint-shaped group of the answer is first explained by the request if it can be; only
what the request does not explain is held against the registry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

from monitor.canaries.evidence import (
    DISGUISE_BITS,
    LEAK_BITS,
    MAX_SUBSTITUTIONS,
    MatchKind,
    net_bits,
)
from monitor.canaries.match import Match
from monitor.canaries.proquint import GROUPS_PER_MARKER, Group, chains, substitutions
from monitor.canaries.readings import readings
from monitor.canaries.registry import POSITION_PAIRS, Entry, MarkerRegistry
from monitor.canaries.value_scan import scan_values

Window = tuple[Group | None, ...]
# Two places of a marker and the groups that stand there.
_PairKey = tuple[int, int, str, str]


class Echo(StrEnum):
    """How an exchange's own nonce came back."""

    OWN = "own"
    NEAR_OWN = "near_own"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """All that an answer says of the registry. ``groups`` counts its unexplained groups."""

    groups: int
    matches: tuple[Match, ...]
    near_own: tuple[tuple[int, int], ...]


def is_code(text: str) -> bool:
    """True if ``text`` is written like a whole marker."""
    groups = [group.letters for chain in chains(text) for group in chain]
    return len(groups) == GROUPS_PER_MARKER and "-".join(groups) == text


def echo(answer: str, nonce: str) -> Echo:
    """Say how ``nonce`` came back in ``answer``."""
    return Echoes(answer).of(nonce)


class Echoes:
    """How markers came back in one answer. Its groups are found once, however many are asked."""

    def __init__(self, answer: str) -> None:
        self._markers = request_markers(chains(answer))
        self._near: Mapping[_PairKey, Sequence[tuple[str, ...]]] | None = None

    def of(self, nonce: str) -> Echo:
        """Say how ``nonce`` came back."""
        wanted = tuple(nonce.split("-"))
        if wanted in self._markers:
            return Echo.OWN
        if len(wanted) != GROUPS_PER_MARKER:
            return Echo.ABSENT
        if self._near is None:
            self._near = _by_pairs(self._markers)
        keys = [(i, j, wanted[i], wanted[j]) for i, j in POSITION_PAIRS]
        near = any(_is_near(each, wanted) for key in keys for each in self._near.get(key, ()))
        return Echo.NEAR_OWN if near else Echo.ABSENT


def scan_answer(answer: str, request: str, registry: MarkerRegistry) -> Scan:
    """Return what the registry owns in ``answer`` that ``request`` does not contain.

    Markers and planted values alike: the best match of each is kept, most evidence first; matches
    worth nothing (``net_bits`` <= 0) are dropped. Codes that stand there only in disguise, spelled,
    broken by lines, backwards or encoded, count where they are proof.
    """
    scan = _scan_codes(answer, request, registry)
    found = [*scan.matches, *scan_values(answer, request, registry)]
    found.extend(_disguised(answer, request, registry))
    return replace(scan, matches=_best(found))


def _disguised(answer: str, request: str, registry: MarkerRegistry) -> Iterator[Match]:
    """Yield the codes that are proven although they can only be read in another way."""
    for words, read in readings(answer):
        for match in _scan_codes(read.text, request, registry).matches:
            bits = match.net_bits - DISGUISE_BITS
            if bits >= LEAK_BITS:
                spans = tuple(sorted(read.span(start, end) for start, end in match.spans))
                said = f"{match.words}, {words}"
                yield replace(match, net_bits=bits, spans=spans, words=said)


def _scan_codes(answer: str, request: str, registry: MarkerRegistry) -> Scan:
    answer_chains = chains(answer)
    if not answer_chains:
        return Scan(groups=0, matches=(), near_own=())
    request_chains = chains(request)
    explained = {group.letters for chain in request_chains for group in chain}
    near_own = _near_own(answer_chains, request_chains)
    places = {(group.start, group.end) for group in near_own}
    windows = [
        tuple(
            None if g is None or g.letters in explained or (g.start, g.end) in places else g
            for g in window
        )
        for window in _windows(answer_chains)
    ]
    unexplained = {(g.start, g.end): g for window in windows for g in window if g}
    search = _Search(registry, request_markers(request_chains), groups=len(unexplained))
    found = [*search.windowed(windows), *search.scattered(list(unexplained.values()))]
    found.extend(search.unregistered(windows, found))
    return Scan(groups=len(unexplained), matches=_best(found), near_own=tuple(sorted(places)))


def request_markers(request_chains: list[list[Group]]) -> frozenset[tuple[str, ...]]:
    """Return the whole markers a request contains, as tuples of groups."""
    return frozenset(
        tuple(group.letters for group in window if group)
        for window in _windows(request_chains)
        if None not in window
    )


def _windows(all_chains: list[list[Group]]) -> Iterator[Window]:
    """Yield every way four neighbouring places can lie over each chain, its ends included."""
    margin = (None,) * (GROUPS_PER_MARKER - 1)
    for chain in all_chains:
        padded = (*margin, *chain, *margin)
        for start in range(len(chain) + GROUPS_PER_MARKER - 1):
            yield tuple(padded[start : start + GROUPS_PER_MARKER])


def _is_near(letters: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if any(not group for group in letters):
        return False
    edits = sum(substitutions(a, b) for a, b in zip(letters, wanted, strict=True))
    return 0 < edits <= MAX_SUBSTITUTIONS


def _near_own(answer: list[list[Group]], request: list[list[Group]]) -> list[Group]:
    """Return the groups of the answer that are copy errors of the request's own markers."""
    own = _by_pairs(request_markers(request))
    near: list[Group] = []
    for window in _windows(answer):
        letters = tuple(group.letters if group else "" for group in window)
        keys = ((i, j, letters[i], letters[j]) for i, j in POSITION_PAIRS)
        if any(_is_near(letters, marker) for key in keys for marker in own.get(key, ())):
            near.extend(group for group in window if group)
    return near


def _by_pairs(
    markers: frozenset[tuple[str, ...]],
) -> dict[_PairKey, list[tuple[str, ...]]]:
    """Index markers by every two of their groups: at most two edits leave two groups whole."""
    index: dict[_PairKey, list[tuple[str, ...]]] = defaultdict(list)
    for marker in markers:
        for i, j in POSITION_PAIRS:
            index[i, j, marker[i], marker[j]].append(marker)
    return index


def _best(found: list[Match]) -> tuple[Match, ...]:
    best: dict[object, Match] = {}
    for match in found:
        key = match.marker_id or match.spans
        if match.net_bits > 0 and (key not in best or best[key].net_bits < match.net_bits):
            best[key] = match
    return tuple(sorted(best.values(), key=lambda m: -m.net_bits))


class _Search:
    """One answer's search: the registry, what the request owns, and the size of the haystack."""

    def __init__(
        self, registry: MarkerRegistry, own: frozenset[tuple[str, ...]], *, groups: int
    ) -> None:
        self._registry = registry
        self._own_hashes = {
            tuple(registry.hash_part(place, g) for place, g in enumerate(marker)) for marker in own
        }
        self._size = {"markers": len(registry), "groups": groups}

    def _is_own(self, entry: Entry) -> bool:
        return entry.part_hashes in self._own_hashes

    def windowed(self, windows: list[Window]) -> Iterator[Match]:
        """Yield the matches whose parts stand in the order and places of their marker."""
        for window in windows:
            hashes = [
                self._registry.hash_part(place, group.letters) if group else 0
                for place, group in enumerate(window)
            ]
            seen: set[str] = set()
            for i, j in POSITION_PAIRS:
                if window[i] is None or window[j] is None:
                    continue
                for entry in self._registry.with_pair(i, j, hashes[i], hashes[j]):
                    if entry.id not in seen and not self._is_own(entry):
                        seen.add(entry.id)
                        yield self._weigh(entry, window, hashes)

    def _weigh(self, entry: Entry, window: Window, hashes: list[int]) -> Match:
        exact = [
            place
            for place, group in enumerate(window)
            if group and hashes[place] == entry.part_hashes[place]
        ]
        run = _longest_run(exact)
        candidates = [self._match(entry, MatchKind.NEIGHBOURS, run, window)]
        if len(exact) > len(run):
            candidates.append(self._match(entry, MatchKind.GAPPED, exact, window))
        near = self._near(entry, window)
        if near is not None:
            candidates.append(near)
        return max(candidates, key=lambda match: match.net_bits)

    def _match(self, entry: Entry, kind: MatchKind, places: list[int], window: Window) -> Match:
        groups = {place: group for place in places if (group := window[place])}
        return _match(entry, kind, groups, net_bits(kind, len(groups), **self._size))

    def _near(self, entry: Entry, window: Window) -> Match | None:
        if entry.groups is None or None in window:
            return None
        groups = {place: group for place, group in enumerate(window) if group}
        edits = sum(substitutions(groups[place].letters, g) for place, g in enumerate(entry.groups))
        if not 0 < edits <= MAX_SUBSTITUTIONS:
            return None
        bits = net_bits(MatchKind.NEAR, GROUPS_PER_MARKER, substitutions=edits, **self._size)
        return _match(entry, MatchKind.NEAR, groups, bits)

    def scattered(self, groups: list[Group]) -> Iterator[Match]:
        """Yield markers of which single parts stand apart from each other.

        Looked for only while one part alone can be worth anything, which also bounds the work.
        """
        if net_bits(MatchKind.SCATTERED, 1, **self._size) <= -GROUPS_PER_MARKER:
            return
        parts: dict[str, dict[int, Group]] = defaultdict(dict)
        for group in groups:
            for place in range(GROUPS_PER_MARKER):
                for entry in self._registry.with_part(place, group.letters):
                    if not self._is_own(entry):
                        parts[entry.id].setdefault(place, group)
        for marker_id, held in parts.items():
            bits = net_bits(MatchKind.SCATTERED, len(held), **self._size)
            yield _match(self._registry.entry(marker_id), MatchKind.SCATTERED, held, bits)

    def unregistered(self, windows: list[Window], known: list[Match]) -> Iterator[Match]:
        """Yield markers of ours (valid tag) that no registered marker explains, each once."""
        seen: set[tuple[str, ...]] = set()
        taken = {span for match in known if len(match.places) > 1 for span in match.spans}
        for window in windows:
            groups = [group for group in window if group]
            if len(groups) < GROUPS_PER_MARKER or any((g.start, g.end) in taken for g in groups):
                continue
            letters = tuple(group.letters for group in groups)
            if letters not in seen and self._registry.has_valid_tag(letters):
                seen.add(letters)
                bits = net_bits(MatchKind.UNREGISTERED, GROUPS_PER_MARKER, **self._size)
                yield Match(
                    kind=MatchKind.UNREGISTERED,
                    places=tuple(range(GROUPS_PER_MARKER)),
                    net_bits=bits,
                    spans=tuple((g.start, g.end) for g in groups),
                    words=_words(MatchKind.UNREGISTERED, GROUPS_PER_MARKER),
                )


def _match(entry: Entry, kind: MatchKind, groups: dict[int, Group], bits: float) -> Match:
    return Match(
        kind=kind,
        places=tuple(sorted(groups)),
        net_bits=bits,
        spans=tuple(sorted((group.start, group.end) for group in groups.values())),
        words=_words(kind, len(groups)),
        marker_id=entry.id,
        owner=entry.owner,
        expired=entry.groups is None,
    )


def _words(kind: MatchKind, groups: int) -> str:
    return f"{groups} of {GROUPS_PER_MARKER} groups ({kind.value})"


def _longest_run(places: list[int]) -> list[int]:
    """Return the longest stretch of consecutive numbers in ``places``."""
    runs = [
        places[a : b + 1]
        for a, b in combinations(range(len(places)), 2)
        if places[b] - places[a] == b - a
    ]
    return max(runs, key=len, default=places[:1])
