"""Random questions with known answers, in words that a very small model can follow."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

Message = dict[str, str]

CONSONANTS = "bdfghjklmnprstvz"
VOWELS = "aiou"
CAPITALS = {
    "France": "Paris",
    "Italy": "Rome",
    "Spain": "Madrid",
    "Germany": "Berlin",
    "Japan": "Tokyo",
    "China": "Beijing",
    "Russia": "Moscow",
    "Egypt": "Cairo",
    "Greece": "Athens",
    "Austria": "Vienna",
    "Portugal": "Lisbon",
    "Ireland": "Dublin",
}
POSITIONS = ("head", "middle", "tail")
COLOURS = ("red box", "blue box", "green box", "black box", "white box", "yellow box")
THINGS = ("train", "house", "ship", "bus", "room", "flight")


@dataclass(frozen=True)
class Sample:
    """User turns, and the strings that the last answer must hold, by part."""

    turns: tuple[str, ...]
    expected: dict[str, str]
    system: str | None = None

    def passed(self, answer: str) -> dict[str, bool]:
        """Tell for each part whether the answer holds it as a word of its own."""
        text = answer.lower()
        return {
            part: re.search(rf"(?<![\w-]){re.escape(wanted.lower())}(?![\w-])", text) is not None
            for part, wanted in self.expected.items()
        }


def proquint(rng: random.Random, groups: int) -> str:
    """Draw a pronounceable marker, 16 bits a group."""
    shape = (CONSONANTS, VOWELS, CONSONANTS, VOWELS, CONSONANTS)
    return "-".join("".join(map(rng.choice, shape)) for _ in range(groups))


def lookup(rng: random.Random) -> tuple[str, str]:
    """Ask for one line of a short list."""
    parcels = rng.sample(range(11, 99), rng.randint(3, 6))
    codes = {parcel: proquint(rng, 2) for parcel in parcels}
    lines = "\n".join(f"parcel {parcel}: {code}" for parcel, code in codes.items())
    wanted = rng.choice(parcels)
    return f"{lines}\nWhat is the code of parcel {wanted}?", codes[wanted]


def addition(rng: random.Random) -> tuple[str, str]:
    """Ask for the sum of two digits."""
    left, right = rng.randint(1, 9), rng.randint(1, 9)
    return f"What is {left} + {right}?", str(left + right)


def fact(rng: random.Random) -> tuple[str, str]:
    """Ask for a well-known capital."""
    country = rng.choice(list(CAPITALS))
    return f"What is the capital of {country}?", CAPITALS[country]


def filler(rng: random.Random, tokens: int) -> list[str]:
    """Write plain sentences of about so many tokens in all (10.2 a sentence)."""
    people = ("farmer", "teacher", "driver", "baker", "painter", "sailor", "doctor", "singer")
    deeds = ("walked to", "looked at", "talked about", "cleaned", "visited", "found", "liked")
    places = ("river", "market", "garden", "bridge", "station", "school", "forest", "beach")
    times = ("in the morning", "after lunch", "in the evening", "on Monday", "last week")
    return [
        f"The {rng.choice(people)} {rng.choice(deeds)} the {rng.choice(places)}"
        f" {rng.choice(times)}."
        for _ in range(round(tokens / 10.2))
    ]


def four_digits(rng: random.Random) -> str:
    """Draw a number that a very small model copies without fault."""
    return str(rng.randint(1000, 9999))


@dataclass(frozen=True)
class Needle:
    """One kind of sentence to hide, and the question about it."""

    sentence: str
    question: str
    names: tuple[str, ...]
    draw: Callable[[random.Random], str]


@dataclass(frozen=True)
class Haystack:
    """A text with three needles; `hidden` gives each place's question and answer."""

    text: str
    hidden: dict[str, tuple[str, str]]


def haystack(rng: random.Random, tokens: int, needle: Needle) -> Haystack:
    """Hide a needle near the head, in the middle and near the tail of plain sentences."""
    sentences = filler(rng, tokens)
    names = rng.sample(needle.names, len(POSITIONS))
    hidden = {}
    last = len(sentences) - 2
    for place, index, name in zip(reversed(POSITIONS), (last, last // 2, 2), names, strict=True):
        value = needle.draw(rng)
        sentences.insert(index, needle.sentence.format(name=name, value=value))
        hidden[place] = (needle.question.format(name=name), value)
    return Haystack(" ".join(sentences), hidden)
