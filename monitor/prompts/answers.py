"""What an answer says besides the reference code that it was asked to echo."""

import re
from collections.abc import Iterator

MAX_ANSWER = 20_000  # characters judged; a golden answer has a few dozen

_GROUP = r"[bdfghjklmnprstvz][aiou][bdfghjklmnprstvz][aiou][bdfghjklmnprstvz]"
_CODE = rf"\b{_GROUP}(?:[-‐‑–—]{_GROUP})+\b|\b{_GROUP}(?:[-‐‑–—\s]{_GROUP}){{3,}}\b"
_LEAD = (
    r"(?:(?:(?:my|the|your)\s{1,2})?"
    r"(?:reference(?:\s{1,2}(?:code|id|number))?|ref|code|参考(?:代码|编号|码|号)?|编号|代码)"
    r"\s{0,2}(?:is|是|为)?\s{0,2}[::=]?\s{0,2})?"
)
_CITED_CODE = re.compile(
    rf"[(\[(【]?{_LEAD}[`*\"'“「(\[]{{0,4}}(?:{_CODE})[`*\"'”」)\])】.,;。,;]{{0,6}}",
    re.IGNORECASE,
)
# "Answer:" or "The answer is:", not the 12 of 12:30.
_LABEL = re.compile(r"(?:[^\W\d]+ ){0,3}[^\W\d]+(?::\s|:)\s*")
_WRAPPING = " \t\r\n`*\"“”「」"


def without_code(answer: str) -> str:
    """Cut every reference code, with the words that introduce it."""
    return _CITED_CODE.sub("\n", answer[:MAX_ANSWER])


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
    text = part.strip()
    if text:
        yield text
        yield text.strip(_WRAPPING)
        yield _LABEL.sub("", text.strip(_WRAPPING), count=1).strip(_WRAPPING)
