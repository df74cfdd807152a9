"""What is read of an answer before it is embedded, and when embedding it would say nothing.

All of this is plain text work without a model; it is bounded by ``READ_CHARACTERS``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

from monitor.prompts.answers import without_code
from monitor.scoring.topic.refusals import declines

# The model reads 256 tokens, about 1,200 characters of prose; nothing after this can count.
READ_CHARACTERS = 8_000
# The vector of a shorter text says more of its form than of what it is about: of wrong answers with
# 9 characters in the middle, 30 % were told apart at 1 % false alarms, with 233 it was 99 %.
LEAST_CHARACTERS = 20
# Fewer references say too little of what right answers sound like.
LEAST_REFERENCES = 3
# A name or a formula in another script is no reason to skip; this share of the letters is.
MOST_FOREIGN_SHARE = 0.2

# By the first word of a letter's Unicode name, after NFKC.
SCRIPTS = {
    "latin": frozenset({"LATIN"}),
    "cjk": frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}),
    "cyrillic": frozenset({"CYRILLIC"}),
    "arabic": frozenset({"ARABIC"}),
}
ANY_SCRIPT = "any"

_NUMBER_ALONE = re.compile(r"^[ \t]{0,8}[12][.)\u3001][ \t]{0,8}$", re.MULTILINE)


def answer_proper(answer: str, nonce: str = "") -> str:
    """Return the answer without the code that it was asked to repeat, cut to ``READ_CHARACTERS``.

    The words that introduce the code and the numbers of the two questions go too.
    """
    text = without_code(answer[: 2 * READ_CHARACTERS])
    if nonce:
        text = text.replace(nonce, " ")
    text = _NUMBER_ALONE.sub("", text)
    # No tokenizer takes half of a surrogate pair.
    return text.strip()[:READ_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def why_not(
    text: str, references: Sequence[str], scripts: Collection[str], *, given: str = ""
) -> str:
    """Return why likeness to the references would say nothing of ``text``; empty if it would.

    ``text`` is an ``answer_proper``. The words are our own.
    """
    if declines(text, "\n".join([given, *references])):
        return "the answer declines: judged without likeness"
    if len(references) < LEAST_REFERENCES:
        return f"{len(references)} of {LEAST_REFERENCES} reference answers"
    if len(text) < LEAST_CHARACTERS:
        return f"fewer than {LEAST_CHARACTERS} characters say too little of a topic"
    if (share := foreign_share(text, scripts)) > MOST_FOREIGN_SHARE:
        return f"{share:.0%} of the letters in scripts that the model does not declare"
    if any(foreign_share(each, scripts) > MOST_FOREIGN_SHARE for each in references):
        return "the references are in scripts that the model does not declare"
    return ""


def foreign_share(text: str, scripts: Collection[str]) -> float:
    """Return the share of the letters of ``text`` in none of ``scripts``; 0 without letters."""
    if ANY_SCRIPT in scripts or (text.isascii() and "latin" in scripts):
        return 0.0
    known = frozenset[str]().union(*(SCRIPTS[each] for each in scripts))
    plain = unicodedata.normalize("NFKC", text[:READ_CHARACTERS])
    letters = [letter for letter in plain if letter.isalpha()]
    foreign = sum(unicodedata.name(letter, "").partition(" ")[0] not in known for letter in letters)
    return foreign / len(letters) if letters else 0.0
