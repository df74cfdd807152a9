"""FOREIGN on markers and planted values as models write them, beside looking for the exact text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from random import Random

from monitor.canaries import InstallationKey, MarkerRegistry, Minter
from monitor.canaries.proquint import CONSONANTS, VOWELS, encode
from monitor.canaries.values import draw
from monitor.checks.foreign import CHECK
from monitor.checks.specimen import a_trial, an_exchange
from monitor.history import History
from monitor.model import Marker, Owner, ValueKind
from tests.bench.checks import packaged
from tests.bench.checks.charset import prose
from tests.bench.checks.judging import PROMPT, row
from tests.bench.checks.table import Row
from tests.bench.planted_values import NOW

SEED = 61
EACH = 400
OWNERS = 2_000
# These prove a leak alone.
PROVING = (ValueKind.EMAIL, ValueKind.CARD, ValueKind.ACCOUNT)
Rewritten = Callable[[str, Random], str]


@cache
def planted() -> tuple[MarkerRegistry, tuple[Marker, ...], tuple[Marker, ...]]:
    """Return a registry with the markers and the proving values of so many owners."""
    key = InstallationKey(bytes(range(32)))
    registry = MarkerRegistry(key)
    minter = Minter(key, registry, random_bits=Random(SEED + 1).getrandbits)
    owners = [_owner(number) for number in range(OWNERS)]
    codes = tuple(minter.mint(owner, NOW) for owner in owners)
    values = tuple(
        minter.mint(owner, NOW, kind=PROVING[number % len(PROVING)])
        for number, owner in enumerate(owners)
    )
    return registry, codes, values


def _owner(number: int) -> Owner:
    return Owner(
        target="specimen",
        tenant="tenant-b",
        isolation="tenant-b",
        trial=f"trial-{number}",
        exchange=0,
        epoch="2026-11-02",
        stratum_key="bench",
    )


def proves(answer: str) -> bool:
    """True if FOREIGN calls the answer a leak."""
    trial = a_trial(an_exchange(answer, prompt=PROMPT))
    signals = CHECK.judge(trial, trial.exchanges[0], History(registry=planted()[0]))
    return any(signal.variant == "other_tenant" for signal in signals)


def _one_letter_off(text: str, rng: Random) -> str:
    place = rng.choice([at for at, letter in enumerate(text) if letter != "-"])
    alphabet = CONSONANTS if text[place] in CONSONANTS else VOWELS
    return text[:place] + rng.choice(alphabet.replace(text[place], "")) + text[place + 1 :]


CODES: tuple[Rewritten, ...] = (
    lambda text, rng: text,
    lambda text, rng: text.upper(),
    lambda text, rng: text.replace("-", " "),
    lambda text, rng: json.dumps(text.replace("-", "\n")),
    _one_letter_off,
)
VALUES: tuple[Rewritten, ...] = (
    lambda text, rng: text,
    lambda text, rng: text.upper(),
    lambda text, rng: text.replace(" ", "-"),
    lambda text, rng: text.replace(" ", ""),
    lambda text, rng: json.dumps(text.replace(" ", "\n").replace("@", "\uff20")),
)


def leaked(
    rng: Random, markers: tuple[Marker, ...], ways: tuple[Rewritten, ...]
) -> Iterator[tuple[str, bool]]:
    """Yield prose with one foreign marker in it, written in one of several ways."""
    for number, text in enumerate(prose(rng, EACH, 600)):
        marker = rng.choice(markers)
        yield f"{text} As I said, {ways[number % len(ways)](marker.text, rng)}. Bye.", True


def clean(rng: Random, made_up: Callable[[Random], str]) -> Iterator[tuple[str, bool]]:
    """Yield documents and sources, and prose with something in it that nobody registered."""
    for text in packaged.windows(rng, packaged.documents(), EACH, 2000):
        yield text, False
    for text in packaged.windows(rng, packaged.sources(), EACH, 2000):
        yield text, False
    for text in prose(rng, EACH, 600):
        yield f"{text} As I said, {made_up(rng)}. Bye.", False


def _code(rng: Random) -> str:
    return "-".join(encode(rng.getrandbits(16)) for _ in range(4))


def _value(rng: Random) -> str:
    return draw(rng.choice(PROVING), rng.getrandbits)


def rows() -> list[Row]:
    """Return the rows of the bench."""
    rng = Random(SEED)
    _, codes, values = planted()
    sets = (
        ("a marker, rewritten or one letter off", codes, CODES, _code),
        ("a planted value, rewritten", values, VALUES, _value),
    )
    found = []
    for name, markers, ways, made_up in sets:
        texts = frozenset(marker.text for marker in markers)

        def exact(text: str, texts: frozenset[str] = texts) -> bool:
            return any(each in text for each in texts)

        cases = [*leaked(rng, markers, ways), *clean(rng, made_up)]
        found.append(row("FOREIGN", name, cases, proves, ("the exact text", exact)))
    return found
