"""Long prompts of a wanted size: filler sentences, needles, and a ruler for tokens.

The filler repeats one fixed *block* of sentences, so that a prompt's tokens grow linearly with its
blocks, whatever the tokenizer. Two prompts of different size and the token counts the target
reports for them then give the tokens a block takes: the ruler.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random

SENTENCES = (
    "The morning train left the old station on time.",
    "A green boat waited by the long wooden pier.",
    "The baker put six warm loaves on the counter.",
    "Rain fell on the quiet town all afternoon.",
    "The teacher drew a wide circle on the board.",
    "Two dogs ran across the field behind the mill.",
    "The clock above the bridge struck nine.",
    "Fresh snow covered the road to the harbour.",
)
BLOCK_CHARACTERS = sum(len(sentence) + 1 for sentence in SENTENCES)
SENTENCE_CHARACTERS = -(-BLOCK_CHARACTERS // len(SENTENCES))
# What to assume of a tokenizer nobody has measured: characters a token, and how far off that is.
ASSUMED_CHARACTERS_PER_TOKEN = 4.6
ASSUMED_RELATIVE_ERROR = 0.25
# Of the densest tokenizers in use: a text cut by it has at most about so many tokens.
DENSE_CHARACTERS_PER_TOKEN = 3.6
# A prompt's four markers take a few tokens more or less than another's: two prompts may differ by
# this much for that reason alone.
MARKER_TOKENS_ERROR = 12
_CHARACTERS_PER_SENTENCE = BLOCK_CHARACTERS / len(SENTENCES)
_WORDS = tuple(word for sentence in SENTENCES for word in sentence.split())
# A word of one token in nearly every tokenizer: the smallest step of a cut.
_SMALL_WORD = " a"
_CUT_TRIES = 12
_SMALL_STEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """Tokens = ``overhead`` + ``per_sentence`` x filler sentences, give or take.

    ``slope_error`` is how far off ``per_sentence`` may be, so the error grows with the length
    that is extrapolated to. ``measured`` is false for a ruler built on assumptions alone.
    """

    overhead: float
    per_sentence: float
    slope_error: float
    measured: bool

    def tokens(self, sentences: int) -> int:
        """Return the expected prompt tokens of a prompt with so many filler sentences."""
        return round(self.overhead + self.per_sentence * sentences)

    def error(self, tokens: int) -> int:
        """Return k: the count of a prompt of this size lies within ± k tokens."""
        reach = max(0.0, tokens - self.overhead) / self.per_sentence
        return round(MARKER_TOKENS_ERROR + self.per_sentence + self.slope_error * reach)

    def sentences(self, tokens: int) -> int:
        """Return how many filler sentences reach at most ``tokens`` (0 if none fits)."""
        return max(0, int((tokens - self.overhead) / self.per_sentence))


def assumed_ruler(overhead_characters: int) -> Ruler:
    """Return the ruler of a tokenizer nobody has measured."""
    per_sentence = _CHARACTERS_PER_SENTENCE / ASSUMED_CHARACTERS_PER_TOKEN
    return Ruler(
        overhead=overhead_characters / ASSUMED_CHARACTERS_PER_TOKEN * 1.6,
        per_sentence=per_sentence,
        slope_error=per_sentence * ASSUMED_RELATIVE_ERROR,
        measured=False,
    )


def measured_ruler(small: tuple[int, int], large: tuple[int, int]) -> Ruler | None:
    """Return the ruler through two (filler sentences in whole blocks, reported tokens) points.

    ``None`` if the counts cannot be true: not growing, or outside 1 to 16 characters a token.
    """
    (few, few_tokens), (many, many_tokens) = small, large
    if many <= few or many_tokens <= few_tokens:
        return None
    per_sentence = (many_tokens - few_tokens) / (many - few)
    if not 1 <= _CHARACTERS_PER_SENTENCE / per_sentence <= 16:  # noqa: PLR2004
        return None
    return Ruler(
        overhead=few_tokens - per_sentence * few,
        per_sentence=per_sentence,
        slope_error=MARKER_TOKENS_ERROR / (many - few),
        measured=True,
    )


def filler(sentences: int) -> list[str]:
    """Return so many filler sentences, in the fixed order of the block."""
    return list(islice(cycle(SENTENCES), sentences))


def with_needles(sentences: int, needles: list[str], rng: Random) -> str:
    """Return filler with the first needle near its start, the last near its end, others between.

    Where between is drawn anew each time, so that a part left out is found sooner or later.
    """
    lines = filler(sentences)
    between = sorted(rng.uniform(0.1, 0.9) for _ in needles[1:-1])
    ends = [rng.uniform(0.97, 0.995)] if len(needles) > 1 else []
    shares = [rng.uniform(0.005, 0.03), *between, *ends]
    for needle, share in reversed(list(zip(needles, shares, strict=True))):
        lines.insert(round(share * sentences), needle)
    return "\n".join(" ".join(lines[i : i + 8]) for i in range(0, len(lines), 8))


async def cut_to(
    tokens: int, opening: str, count: Callable[[str], Awaitable[int | None]]
) -> tuple[str, bool]:
    """Return ``opening`` and as much filler as makes ``tokens`` tokens, and whether exactly so.

    Where no cut has just that many, the text has about as many; where ``count`` cannot say
    (``None``) it may have a fifth less.
    """
    characters = tokens * DENSE_CHARACTERS_PER_TOKEN - len(opening)
    words, padding = max(1, math.floor(characters * len(_WORDS) / BLOCK_CHARACTERS)), 0
    for _ in range(_CUT_TRIES):
        text = opening + " " + " ".join(islice(cycle(_WORDS), words)) + _SMALL_WORD * padding
        counted = await count(text)
        if not counted or counted == tokens:
            return text, counted == tokens
        missing = tokens - counted
        if 0 < missing <= _SMALL_STEPS:
            padding += missing
        else:
            # Steps of whole words must come out below, where small words fill the rest.
            words += math.floor((missing - 1) * words / counted)
            # No word takes less than a token, whatever a target says.
            words, padding = min(max(1, words), tokens), 0
    return text, False
