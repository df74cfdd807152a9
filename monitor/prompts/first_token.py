"""The first token of an answer, as far as text alone can tell."""

import unicodedata

from monitor.model import Exchange

# Tokens are rarely longer; a longer run of letters says no more than its beginning.
MAX_CHARACTERS = 24
_LOOKED_AT = 200
# Invisible characters: formats, controls, what is not assigned, lone surrogates.
_INVISIBLE = frozenset({"Cf", "Cc", "Cn", "Cs"})


def first_token(text: str) -> str:
    """Return what an answer begins with: a word, a number, or a single other character.

    A stand-in for the first token of a tokenizer nobody knows. Space before it and invisible
    characters are left out, and width is folded (NFKC), because a leading space that comes or
    goes is a change of format, not of model. Case is kept. A letter of a script written without
    spaces stands alone. Empty if nothing is written. Looks at
    the first 200 characters after space.
    """
    plain = unicodedata.normalize("NFKC", text.lstrip()[:_LOOKED_AT])
    seen = "".join(c for c in plain if c.isspace() or not _invisible(c)).lstrip()
    if not seen:
        return ""
    kind = _kind(seen[0])
    if not kind:
        return seen[0]
    end = next(
        (i for i, c in enumerate(seen) if _kind(c) != kind and unicodedata.category(c)[0] != "M"),
        len(seen),
    )
    return seen[: min(end, MAX_CHARACTERS)]


def first_token_of(exchange: Exchange) -> str | None:
    """Return what the answer to a border input begins with; ``None`` if that cannot be told.

    It cannot be told of an answer that is not whole, or that hidden reasoning or a tool call
    came instead of. An answer may end before it begins: then the token is empty.
    """
    response = exchange.response
    if not exchange.expectation.border_input or response is None or not exchange.whole:
        return None
    token = first_token(response.text)
    hidden = bool(response.reasoning_text.strip() or response.usage.reasoning_tokens)
    return None if not token and (hidden or response.tool_calls) else token


def _invisible(char: str) -> bool:
    return unicodedata.category(char) in _INVISIBLE


def _kind(char: str) -> str:
    """Return what runs of ``char`` are made of; empty if it stands alone."""
    if char.isdecimal():
        return "number"
    # Ideographs, kana, Hangul, Thai and the like have no case and no spaces between words.
    return "word" if char.isalpha() and (char.isascii() or _has_spaces(char)) else ""


def _has_spaces(char: str) -> bool:
    """Whether words of the letter's script are set apart by spaces."""
    name = unicodedata.name(char, "")
    return name.startswith(("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW", "DEVANAGARI"))
