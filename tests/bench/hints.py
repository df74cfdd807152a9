"""How often clean answers are called a hint of a leak, against the stated rate.

Run by ``make bench-canaries``. Seeds are fixed. An answer of a healthy model seldom holds groups or
values that nobody gave it; here every one does. What is counted beside it, any evidence above none,
was a hint before there was a least.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from random import Random

from monitor.canaries import (
    HINT_BITS,
    InstallationKey,
    MarkerRegistry,
    Match,
    MatchKind,
    Minter,
    PartialEvidence,
    accumulate,
    scan_answer,
)
from monitor.canaries.evidence import FALSE_HINT_RATE
from monitor.canaries.proquint import encode
from monitor.canaries.values import draw
from monitor.detect.binomial import wilson
from monitor.history import REMEMBERED_EXCHANGES, OwnerKey, owner_key
from monitor.model import Owner, ValueKind

NOW = datetime(2026, 11, 2, tzinfo=UTC)
KEY = InstallationKey(bytes(range(32)))
ANSWERS = 100_000
SIZES = (10, 100, 1_000, 10_000, 100_000)
GROUPS = (1, 4, 16)
# Of one exchange, whose parts add up.
MARKERS_OF_AN_OWNER = 4
VALUE_ANSWERS = 50_000
VALUES_OF_AN_ANSWER = 4
SUM = "added up"
KINDS = (
    MatchKind.NEIGHBOURS,
    MatchKind.GAPPED,
    MatchKind.NEAR,
    MatchKind.SCATTERED,
    MatchKind.UNREGISTERED,
    MatchKind.VALUE,
    MatchKind.VALUE_PART,
)
LETTERS = tuple(encode(value) for value in range(1 << 16))


def registry_of(size: int, kinds: Sequence[str] = ("nonce",)) -> MarkerRegistry:
    """Return a registry of so many live entries of these kinds in turn."""
    registry = MarkerRegistry(KEY)
    minter = Minter(KEY, registry, random_bits=Random(size).getrandbits)
    for number in range(size):
        minter.mint(_owner(number // MARKERS_OF_AN_OWNER), NOW, kind=kinds[number % len(kinds)])
    registry.take_unsaved()
    return registry


def _owner(number: int) -> Owner:
    return Owner(
        target="t",
        tenant="tenant-a",
        isolation="tenant-a",
        trial=f"trial-{number}",
        exchange=0,
        epoch="2026-11-02",
        stratum_key="bench",
    )


class Tally:
    """Answers of one kind: how many showed anything, and how many gave a hint, by its shape."""

    def __init__(self) -> None:
        self.answers = self.anything = self.hinted = 0
        self.kinds: Counter[str] = Counter()
        self._seen: deque[list[tuple[OwnerKey, PartialEvidence]]] = deque(
            maxlen=REMEMBERED_EXCHANGES
        )

    def add(self, matches: Sequence[Match]) -> None:
        """Count one answer, held against those before it as the check does."""
        parts = [
            (owner_key(match.owner), PartialEvidence(match.marker_id, match.places, match.net_bits))
            for match in matches
            if match.owner and match.marker_id
        ]
        self._seen.append(parts)
        self.answers += 1
        self.anything += bool(matches)
        lost = sum(match.net_bits for match in matches if match.owner is None)
        shapes = {
            match.kind.value
            for match in matches
            if (lost if match.owner is None else match.net_bits) >= HINT_BITS
        }
        if not shapes and any(self._together(owner) >= HINT_BITS for owner, _ in parts):
            shapes = {SUM}
        self.kinds.update(shapes)
        self.hinted += bool(shapes)

    def _together(self, owner: OwnerKey) -> float:
        of_owner = [part for seen in self._seen for whose, part in seen if whose == owner]
        return accumulate(of_owner, len(self._seen))

    def row(self) -> str:
        """Return the counts as columns, and the upper end of the rate's Wilson interval."""
        counts = "".join(f"{self.kinds[kind]:>13,}" for kind in (*KINDS, SUM))
        _, most = wilson(self.hinted, self.answers)
        rate = self.hinted / self.answers
        return f"{self.answers:>11,}{self.anything:>11,}{counts}{rate:>10.1e}{most:>10.1e}"


def _chain(groups: int, rng: Random) -> str:
    return "-".join(LETTERS[rng.getrandbits(16)] for _ in range(groups))


def _apart(groups: int, rng: Random) -> str:
    return " and then also the ".join(LETTERS[rng.getrandbits(16)] for _ in range(groups))


FORMS: dict[str, Callable[[int, Random], str]] = {"neighbours": _chain, "apart": _apart}


def marker_cells() -> Iterator[tuple[str, Tally]]:
    """Yield what invented groups come to before registries of every age."""
    for size in SIZES:
        registry = registry_of(size)
        for groups in GROUPS:
            for form, make in FORMS.items():
                if groups == 1 and make is _apart:
                    continue
                rng, tally = Random(7), Tally()
                for _ in range(ANSWERS):
                    tally.add(scan_answer(make(groups, rng), "hello", registry).matches)
                yield f"{size:>9,}  {groups:>2} {form}", tally


def value_cells() -> Iterator[tuple[str, Tally]]:
    """Yield what made-up values of each planted kind come to, each among as many of its kind."""
    for size in SIZES[2:]:
        for kind in ValueKind:
            registry = registry_of(size, [kind])
            rng, tally = Random(7), Tally()
            for _ in range(VALUE_ANSWERS):
                made = (draw(kind, rng.getrandbits) for _ in range(VALUES_OF_AN_ANSWER))
                tally.add(scan_answer("; ".join(made), "hello", registry).matches)
            yield f"{size:>9,}  {VALUES_OF_AN_ANSWER:>2} {kind.value}", tally


def main() -> None:
    """Print all of it."""
    say(f"\nFalse hints (from {HINT_BITS:g} bits); every answer holds what nobody gave it")
    heads = "".join(f"{kind:>13}" for kind in (*KINDS, SUM))
    name = "entries, in an answer"
    say(f"{name:<26}{'answers':>11}{'> 0 bits':>11}{heads}{'rate':>10}{'at most':>10}")
    answers = hinted = anything = 0
    for cells in (marker_cells(), value_cells()):
        for name, tally in cells:
            say(f"{name:<26}{tally.row()}")
            answers, hinted = answers + tally.answers, hinted + tally.hinted
            anything += tally.anything
    _, most = wilson(hinted, answers)
    say(
        f"all {answers:,} answers: {hinted:,} hints, {hinted / answers:.1e} (at most {most:.1e}); "
        f"{anything:,} with any evidence, {anything / answers:.1e}"
    )
    say(f"stated: below {FALSE_HINT_RATE:g} false hints an answer (monitor/canaries/evidence.py)")


def say(line: str) -> None:
    """Write a line."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
