"""Random questions with known answers, in words that a very small model can follow."""

import random
import re
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
COLOURS = ("red", "blue", "green", "black", "white", "yellow")


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


def haystack(
    rng: random.Random, tokens: int, needle: str
) -> tuple[str, dict[str, tuple[str, str]]]:
    """Hide three needles; give the text, and for each position its (name, code)."""
    sentences = filler(rng, tokens)
    names = rng.sample(COLOURS, len(POSITIONS))
    hidden = {place: (name, proquint(rng, 2)) for place, name in zip(POSITIONS, names, strict=True)}
    last = len(sentences) - 2
    for place, index in (("tail", last), ("middle", last // 2), ("head", 2)):
        name, code = hidden[place]
        sentences.insert(index, needle.format(name=name, code=code))
    return " ".join(sentences), hidden
