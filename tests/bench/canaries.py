"""How fast answers are scanned, how often a clean one is called a leak, how often a leak is seen.

Run: ``make bench-canaries``. Seeds are fixed; times are ratios within one run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

from monitor.canaries import (
    HINT_BITS,
    LEAK_BITS,
    InstallationKey,
    MarkerRegistry,
    Minter,
    scan_answer,
)
from monitor.canaries.proquint import CONSONANTS, VOWELS, encode
from monitor.longtext import filler
from monitor.model import Marker, Owner
from tests.bench import hints, planted_values

NOW = datetime(2026, 11, 2, tzinfo=UTC)
KEY = InstallationKey(bytes(range(32)))
ANSWERS = 20_000
SIZES = (100, 10_000, 200_000)


def registry_of(count: int) -> tuple[MarkerRegistry, list[Marker]]:
    """Return a registry of so many live markers."""
    registry = MarkerRegistry(KEY)
    minter = Minter(KEY, registry, random_bits=Random(count).getrandbits)
    markers = [minter.mint(_owner(number), NOW) for number in range(count)]
    return registry, markers


def _owner(number: int) -> Owner:
    return Owner(
        target="t",
        tenant=f"tenant-{number % 5}",
        isolation=f"tenant-{number % 5}",
        trial=f"trial-{number}",
        exchange=0,
        epoch="2026-11-02",
        stratum_key="bench",
    )


def substituted(text: str, edits: int, rng: Random) -> str:
    """Return ``text`` with so many letters replaced, vowels by vowels, consonants by consonants."""
    letters = list(text)
    for place in rng.sample([i for i, c in enumerate(letters) if c != "-"], edits):
        alphabet = CONSONANTS if letters[place] in CONSONANTS else VOWELS
        letters[place] = rng.choice([c for c in alphabet if c != letters[place]])
    return "".join(letters)


def _echo(own: str, rng: Random) -> str:
    return f"The code is {own}."


def _mis_echo(own: str, rng: Random) -> str:
    return f"The code is {substituted(own, rng.randint(1, 8), rng)}."


def _garbled(own: str, rng: Random) -> str:
    groups = own.split("-")
    rng.shuffle(groups)
    return " ".join([*groups[: rng.randint(1, 4)], encode(rng.getrandbits(16)), groups[0]])


def _invented(own: str, rng: Random) -> str:
    return "-".join(encode(rng.getrandbits(16)) for _ in range(rng.randint(1, 13)))


def _prose(own: str, rng: Random) -> str:
    return " ".join(filler(rng.randint(1, 20)))


CLEAN: dict[str, Callable[[str, Random], str]] = {
    "exact echo": _echo,
    "echo with 1 to 8 copy errors": _mis_echo,
    "own groups shuffled, one invented": _garbled,
    "1 to 13 invented groups": _invented,
    "prose": _prose,
}


def false_leaks(registry: MarkerRegistry, markers: list[Marker]) -> None:
    """Print how many clean answers came near a proof, and the most evidence any gave."""
    say(f"\nClean answers against {len(registry):,} live markers, {ANSWERS:,} of each kind")
    say(f"{'answer':<36}{'matches':>9}{'most net bits':>15}{'false LEAKs':>13}")
    for name, make in CLEAN.items():
        rng = Random(7)
        bits = [0.0]
        for number in range(ANSWERS):
            own = markers[number % len(markers)].text
            scan = scan_answer(make(own, rng), f"code {own}", registry)
            bits.extend(match.net_bits for match in scan.matches)
        leaks = sum(b >= LEAK_BITS for b in bits)
        say(f"{name:<36}{len(bits) - 1:>9}{max(bits):>15.1f}{leaks:>13}")
    say("stated bound: below 1e-9 false LEAKs an answer (monitor/canaries/evidence.py)")


def detection(registry: MarkerRegistry, markers: list[Marker]) -> None:
    """Print how often a foreign marker is proven, hinted at and rightly owned, by what is left."""
    say(f"\nForeign markers against {len(registry):,} live markers, 2,000 of each kind")
    say(f"{'what is left of the marker':<36}{'proven':>9}{'a hint':>9}{'right owner':>13}")
    kinds: dict[str, Callable[[str, Random], str]] = {
        "whole": lambda text, rng: text,
        "one copy error": lambda text, rng: substituted(text, 1, rng),
        "two copy errors": lambda text, rng: substituted(text, 2, rng),
        "first three groups": lambda text, rng: text.rsplit("-", 1)[0],
        "last two groups": lambda text, rng: text.split("-", 2)[2],
        "last two groups, others beside": lambda text, rng: (
            f"{text.split('-', 2)[2]}, {_invented('', rng)}"
        ),
        "first and last group": lambda text, rng: f"{text[:5]} and {text[-5:]}",
        "one group": lambda text, rng: text[:5],
    }
    for name, damage in kinds.items():
        rng = Random(11)
        proven = hinted = owned = 0
        for _ in range(2000):
            marker = markers[rng.randrange(len(markers))]
            scan = scan_answer(f"as I said, {damage(marker.text, rng)}", "hello", registry)
            best = scan.matches[0] if scan.matches else None
            proven += bool(best and best.net_bits >= LEAK_BITS)
            hinted += bool(best and HINT_BITS <= best.net_bits < LEAK_BITS)
            owned += bool(best and best.owner == marker.owner)
        shares = f"{proven / 2000:>9.1%}{hinted / 2000:>9.1%}{owned / 2000:>13.1%}"
        say(f"{name:<36}{shares}")


def speed() -> None:
    """Print the time to scan one answer, against looking for every marker in turn."""
    say("\nScanning one answer of 2,000 characters with one foreign marker in it")
    say(f"{'live markers':>14}{'scan':>12}{'each marker in turn':>22}{'ratio':>9}")
    for size in SIZES:
        registry, markers = registry_of(size)
        answer = " ".join([*filler(40), markers[size // 2].text])
        ours = timed(lambda: scan_answer(answer, "hello", registry), 200)  # noqa: B023
        naive = timed(lambda: [m for m in markers if m.text in answer], 5)  # noqa: B023
        say(f"{size:>14,}{ours * 1e6:>9.0f} us{naive * 1e6:>19.0f} us{naive / ours:>9.1f}")


def timed(work: Callable[[], object], times: int) -> float:
    """Return the best seconds of ``times`` runs."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def say(line: str) -> None:
    """Write a line."""
    sys.stdout.write(line + "\n")


def main() -> None:
    """Run all three, then those of planted values, then how often clean answers give a hint."""
    registry, markers = registry_of(10_000)
    false_leaks(registry, markers)
    detection(registry, markers)
    speed()
    planted_values.main()
    hints.main()


if __name__ == "__main__":
    main()
