"""What an answer says besides the reference code that it was asked to echo."""

import re
from collections.abc import Iterator

MAX_ANSWER = 20_000  # characters judged; a golden answer has a few dozen

_GROUP = r"[bdfghjklmnprstvz][aiou][bdfghjklmnprstvz][aiou][bdfghjklmnprstvz]"
_CODE = (
    rf"(?<![a-z]){_GROUP}(?:[-\u2010-\u2014]{_GROUP})+(?![a-z])"
    # Of white space alone: "Paris" has a group's shape too, and may stand right before a code.
    rf"|(?<![a-z]){_GROUP}(?:\s{_GROUP}){{3,}}(?![a-z])"
)
_LEAD = (
    r"(?:(?<![a-z])(?:(?:my|the|your)\s{1,2})?"
    r"(?:reference(?:\s{1,2}(?:code|id|number))?|ref|code|参考(?:代码|编号|码|号)?|编号|代码)"
    r"\s{0,2}(?:is|是|为)?\s{0,2}[:\uff1a=]?\s{0,2})?"
)
_OPENING = r"[`*\"'<\u201c\u300c(\uff08\[\u3010]{0,4}"
_CLOSING = r"[`*\"'>\u201d\u300d)\uff09\]\u3011.,;:\u3002\uff0c\uff1b\uff1a]{0,6}"
_RULE = r"(?:\s[-\u2013\u2014|:]\s)?"  # between code and answer on one line
_FIRST = r"(?:(?<!\S)1[.)\u3001]\s{0,2})?"  # the code was asked for as question 1 ...
_CITED_CODE = re.compile(
    rf"{_RULE}{_FIRST}{_OPENING}{_LEAD}{_OPENING}(?:{_CODE}){_CLOSING}{_RULE}", re.IGNORECASE
)
_SECOND = re.compile(
    r"^[ \t]{0,20}2(?:[.)]\s+|\u3001\s*)(?=\S)", re.MULTILINE
)  # ... and the answer as question 2
# "Answer:" or "The answer is:", not the 12 of 12:30.
_LABEL = re.compile(r"(?:[^\W\d]{1,40} ){0,3}[^\W\d]{1,40}(?::\s|\uff1a)\s*")
_WRAPPING = ' \t\r\n`*"\u201c\u201d\u300c\u300d'


def without_code(answer: str) -> str:
    """Cut every reference code, with the words that introduce it, and the answer's own number."""
    rest = _CITED_CODE.sub("\n", answer[:MAX_ANSWER])
    return _SECOND.sub("", rest, count=1)


def without_label(text: str) -> str:
    """Cut the label that a text begins with: "Answer: 42"."""
    text = text.strip()
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def lists_beside_code(answer: str) -> frozenset[str]:
    """Return the readings of an answer that may be a list: its own "2." is one, or is none."""
    answer = answer[:MAX_ANSWER]
    rest = _CITED_CODE.sub("\n", answer)
    second = _SECOND.sub("", rest, count=1)
    lines = (line for line in answer.splitlines() if not _CITED_CODE.search(line))
    unlabelled = (without_label(each) for each in (rest, second))
    return frozenset((rest, second, "\n".join(lines), *unlabelled))


def bodies(answer: str) -> frozenset[str]:
    """Return the texts that may be meant as *the* answer when a code stands beside it.

    A model puts the code before or after its answer, on the same line or another, behind
    a label or in bold. Each such reading is one body; no part of an answer that holds no
    code is ever left out.
    """
    return frozenset(body for part in _parts(answer[:MAX_ANSWER]) for body in _bare(part))


def _parts(answer: str) -> Iterator[str]:
    yield without_code(answer)
    yield from _CITED_CODE.split(answer)
    yield "\n".join(line for line in answer.splitlines() if not _CITED_CODE.search(line))


def _bare(part: str) -> Iterator[str]:
    text = _SECOND.sub("", part, count=1).strip()
    if text:
        yield text
        yield text.strip(_WRAPPING)
        yield _LABEL.sub("", text.strip(_WRAPPING), count=1).strip(_WRAPPING)
