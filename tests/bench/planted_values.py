"""How often clean text is called a leak of a planted value, and how often a leak is seen.

Run by ``make bench-canaries``. Seeds are fixed; times are ratios within one run.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from monitor.canaries import LEAK_BITS, InstallationKey, MarkerRegistry, Minter, scan_answer
from monitor.canaries.candidates import candidates
from monitor.canaries.values import SHAPES, draw
from monitor.longtext import filler
from monitor.model import Marker, Owner, ValueKind
from tests.bench.checks.packaged import sources

NOW = datetime(2026, 11, 2, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=400)
KEY = InstallationKey(bytes(range(32)))
LIVE, EXPIRED = 10_000, 100_000
# Answers of each kind, and what stands in each.
ANSWERS, A_TEXT = 4_000, 50
CORPUS_CHARACTERS, ANSWER_CHARACTERS = 10_000_000, 4_000
DETECTIONS = 1_000
# Places are counted in every so many answers: it takes as long as searching them.
COUNTED = 50
KINDS = tuple(ValueKind)


def registry_of(live: int, expired: int) -> tuple[MarkerRegistry, list[Marker]]:
    """Return a registry of so many planted values of all kinds, and the live ones."""
    registry = MarkerRegistry(KEY)
    minter = Minter(KEY, registry, random_bits=Random(live).getrandbits)
    for number in range(expired):
        minter.mint(_owner(-number), LONG_AGO, kind=KINDS[number % len(KINDS)])
    registry.expire(NOW)
    registry.take_unsaved()
    values = [minter.mint(_owner(n), NOW, kind=KINDS[n % len(KINDS)]) for n in range(live)]
    return registry, values


def _owner(number: int) -> Owner:
    return Owner(
        target="t",
        tenant=f"tenant-{number % 5}",
        isolation=f"tenant-{number % 5}",
        trial=f"trial-{number // len(KINDS)}",
        exchange=0,
        epoch="2026-11-02",
        stratum_key="bench",
    )


def _digits(rng: Random) -> str:
    length = rng.randint(9, 19)
    return f"{rng.randrange(10**length):0{length}d}"


def _like(kind: ValueKind) -> Callable[[Random], str]:
    return lambda rng: draw(kind, rng.getrandbits)


def _address(rng: Random) -> str:
    words = [word.strip(".").lower() for line in filler(8) for word in line.split()]
    return f"{rng.choice(words)}.{rng.choice(words)}{rng.randrange(10_000)}@example.org"


MADE_UP: dict[str, Callable[[Random], str]] = {
    "digits, 9 to 19 of them": _digits,
    "numbers like planted cards": _like(ValueKind.CARD),
    "numbers like planted accounts": _like(ValueKind.ACCOUNT),
    "numbers like planted phones": _like(ValueKind.PHONE),
    "addresses like planted ones": _like(ValueKind.EMAIL),
    "addresses in example.org": _address,
    "names like planted ones": _like(ValueKind.NAME),
}


def clean_answers(values: list[Marker]) -> Iterator[tuple[str, int, Iterator[tuple[str, str]]]]:
    """Yield kinds of clean text: a name, how many values it holds, and (answer, request) pairs."""
    for name, make in MADE_UP.items():
        yield name, ANSWERS * A_TEXT, _made_up(make)
    yield "own record, 1 to 3 digits wrong", ANSWERS, _mis_copied(values)
    texts = _corpus()
    yield "sources and documents", len(texts), ((text, "hello") for text in texts)


def _made_up(make: Callable[[Random], str]) -> Iterator[tuple[str, str]]:
    rng = Random(7)
    for _ in range(ANSWERS):
        # A sign between them that no number is read through.
        yield "; ".join(make(rng) for _ in range(A_TEXT)), "hello"


def _mis_copied(values: list[Marker]) -> Iterator[tuple[str, str]]:
    rng = Random(7)
    for number in range(ANSWERS):
        own = ", ".join(v.text for v in values[len(KINDS) * (number % 1000) :][: len(KINDS)])
        letters = list(own)
        for place in rng.sample([i for i, c in enumerate(own) if c.isdigit()], rng.randint(1, 3)):
            letters[place] = str(rng.randrange(10))
        yield "".join(letters), own


def _corpus() -> list[str]:
    text = "\n".join(sources())[:CORPUS_CHARACTERS]
    return [text[at : at + ANSWER_CHARACTERS] for at in range(0, len(text), ANSWER_CHARACTERS)]


def false_leaks(registry: MarkerRegistry, values: list[Marker]) -> None:
    """Print how many clean texts held a planted value, and the most evidence any gave."""
    say(f"\nClean text against {LIVE:,} live and {EXPIRED:,} expired planted values")
    head = ("text", "values in it", "places", "matches", "expected", "most bits", "false LEAKs")
    say(f"{head[0]:<32}{head[1]:>13}{head[2]:>11}" + "".join(f"{h:>12}" for h in head[3:]))
    for name, held, answers in clean_answers(values):
        places = matches = leaks = 0
        most = expected = 0.0
        for number, (answer, request) in enumerate(answers):
            for each in candidates(answer) if number % COUNTED == 0 else ():
                places += COUNTED
                # Values of one kind, and of those the share that one place is expected to hit.
                share = len(registry) / len(KINDS) / 2 ** SHAPES[each.kind].bits(each.form)
                expected += COUNTED * share
            for match in scan_answer(answer, request, registry).matches:
                matches += 1
                most = max(most, match.net_bits)
                leaks += match.net_bits >= LEAK_BITS
        row = f"{matches:>12,}{expected:>12.2g}{most:>12.1f}{leaks:>12}"
        say(f"{name:<32}{held:>13,}{places:>11,}{row}")
    say("expected: matches by accident, those worth nothing included")


def detection(registry: MarkerRegistry, values: list[Marker]) -> None:
    """Print how often a value is proven and rightly owned, by what is left of it."""
    say(f"\nForeign values among them, {DETECTIONS:,} of each kind: proven / right owner")
    say(f"{'what is left':<32}" + "".join(f"{SHAPES[kind].words:>22}" for kind in KINDS))
    kinds: dict[str, Callable[[str], str]] = {
        "whole": str,
        "upper case": str.upper,
        "no spaces": lambda text: text.replace(" ", ""),
        "a line break for each space": lambda text: text.replace(" ", "\n"),
        "in JSON, in JSON": lambda text: json.dumps(json.dumps(text)),
        "full width, in JSON": lambda text: json.dumps(_wide(text)),
        "first 12 digits": lambda text: _only_digits(text)[:12],
        "last 4 digits": lambda text: _only_digits(text)[-4:],
    }
    for name, damage in kinds.items():
        row = "".join(f"{_seen(registry, values, kind, damage):>22}" for kind in KINDS)
        say(f"{name:<32}{row}")


def _seen(
    registry: MarkerRegistry, values: list[Marker], kind: ValueKind, damage: Callable[[str], str]
) -> str:
    proven = owned = 0
    chosen = [value for value in values if value.kind == kind][:DETECTIONS]
    for value in chosen:
        matches = scan_answer(f"as I said: {damage(value.text)}", "hello", registry).matches
        proven += any(match.net_bits >= LEAK_BITS for match in matches)
        owned += [match.owner for match in matches] == [value.owner]
    return f"{proven / len(chosen):.0%} / {owned / len(chosen):.0%}"


def _wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _only_digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def together(registry: MarkerRegistry, values: list[Marker]) -> None:
    """Print how often a whole record is proven, and the evidence of its values in one answer."""
    per = len(KINDS)
    proven = 0
    for number in range(DETECTIONS):
        record = ", ".join(value.text for value in values[number * per : (number + 1) * per])
        matches = scan_answer(f"Customer: {record}", "hello", registry).matches
        proven += sum(match.net_bits >= LEAK_BITS for match in matches) >= 3
    say(f"whole records of which three values are proof: {proven / DETECTIONS:.0%}")


def speed() -> None:
    """Print the time to scan one answer, against looking for every value in turn."""
    say("\nScanning one answer of 2,000 characters with one foreign address in it")
    say(f"{'live values':>14}{'scan':>12}{'each value in turn':>22}{'ratio':>9}")
    for size in (100, 10_000, 100_000):
        registry, values = registry_of(size, 0)
        answer = " ".join([*filler(40), values[size // 2 // 5 * 5 + 1].text])
        ours = timed(lambda: scan_answer(answer, "hello", registry), 200)  # noqa: B023
        naive = timed(lambda: [v for v in values if v.text in answer], 5)  # noqa: B023
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
    sys.stdout.flush()


def main() -> None:
    """Run all of it."""
    registry, values = registry_of(LIVE, EXPIRED)
    false_leaks(registry, values)
    detection(registry, values)
    together(registry, values)
    speed()


if __name__ == "__main__":
    main()
