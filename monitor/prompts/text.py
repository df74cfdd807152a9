"""Looking for a string in text, whatever its case, width, accents and script."""

import re
import unicodedata

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63"), "-")
_QUOTES = dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc"), "'")
_UNEQUAL = {ord("\u2260"): "!="}
_SUPERSCRIPT = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_VULGAR_FRACTION = re.compile("([¼-¾⅐-⅞])")
_LATIN_MARKS = re.compile("[\u0300-\u036f]")
# What denies the very next words. Further away nothing is read: grammar would be needed.
_LOOK_BACK = 40
_NEGATION = re.compile(
    r"(?:(?:\bnot|n't|\bnever|\brather than|\binstead of)\*{0,2}"
    r"(?: (?:in|on|at|of|the|a|an|by|from|to|called|named|exactly)){0,2} "
    r"|(?<!是)不是|并非|而非|不叫|不在|不等于|!= ?)[\s\"'\u201c\u300c(*`\u300a]{0,3}$"
)
# Scripts written without spaces, or with particles glued to the word (Hangul).
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u312f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


def normalise(text: str) -> str:
    """Fold what does not change a fact: case, width, accents, dashes, digits, space.

    A superscript becomes `^2` and a fraction such as ½ stands apart, since plain NFKC
    would turn 10² into 102 and 3½ into 31 halves. An unequal sign stays one, though its
    stroke is a mark such as an accent.
    """
    text = _VULGAR_FRACTION.sub(r" \1", _SUPERSCRIPT.sub(r"^\1", text))
    text = unicodedata.normalize("NFKC", text).translate(_DASHES | _QUOTES | _UNEQUAL)
    text = unicodedata.normalize("NFKD", text.casefold())
    text = unicodedata.normalize("NFKC", _LATIN_MARKS.sub("", text)).casefold()
    text = "".join(_plain(char) for char in text)
    return "\n".join(line for line in map(_one_spaced, text.splitlines()) if line)


def plain_signs(text: str) -> str:
    """Return the text with dashes, apostrophes and spaces as in ASCII, and nothing invisible.

    Letters, their case, digits and lines stay as they are.
    """
    return "".join(map(_plain_sign, text.translate(_DASHES | _QUOTES)))


def contains(text: str, wanted: str) -> bool:
    """Whether `wanted` stands in `text` on its own; both are normalised."""
    start = text.find(wanted)
    while start >= 0:
        if _stands_alone(text, start, start + len(wanted)):
            return True
        start = text.find(wanted, start + 1)
    return False


def affirms(text: str, wanted: str) -> bool:
    """Whether `wanted` stands in `text` on its own, at least once not right behind a "not".

    Both are normalised. Only a denial of the very next words is understood: "not Lyon", "rather
    than in Lyon", 不是里昂; not "it is false that it is Lyon".
    """
    start = text.find(wanted)
    while start >= 0:
        if _stands_alone(text, start, start + len(wanted)) and not denied(text, start):
            return True
        start = text.find(wanted, start + 1)
    return False


def denied(text: str, start: int) -> bool:
    """Whether the words right before this place of a normalised text deny what stands there."""
    return _NEGATION.search(text[max(0, start - _LOOK_BACK) : start]) is not None


def _one_spaced(line: str) -> str:
    return " ".join(line.split())


def _plain(char: str) -> str:
    if char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    # Zero-width characters, soft hyphens and variation selectors say nothing.
    if unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f":
        return ""
    return char


def _plain_sign(char: str) -> str:
    if unicodedata.category(char) == "Zs":
        return " "
    return char if char.isdecimal() else _plain(char)


def _is_word(char: str) -> bool:
    return char.isalnum() and not _UNSPACED.match(char)


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    first, last = text[start], text[end - 1]
    if before and _is_word(first) and _is_word(before[-1]):
        return False
    if after and _is_word(last) and _is_word(after[0]):
        return False
    # 7 is in none of 1,7 and 7.5 and 7:30 and 1/7.
    inside_number = first.isdigit() and re.fullmatch(r"\d[.,:/]", before)
    return not (inside_number or (last.isdigit() and re.match(r"[.,:/]\d", after)))
