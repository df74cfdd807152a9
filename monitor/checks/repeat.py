"""REPEAT: the answer does not say the same thing over and over.

Five kinds: it ends in a loop, it holds a long run of one token somewhere, it is as a whole its own
first part again (``doubled``: 16 characters and more, white space left out), much of its running
text stands in repeated n-grams, or a piece of a sentence stands right behind itself (``stutter``:
12 characters and more of words, as when a piece of a stream is sent twice). What the request says
twice, or asks to be said twice, is neither of the two. A ratio of compression is not used: it flags
most code. Measured in ``tests/bench/checks/repeat.py``: of 4,000 healthy pieces of documents,
docstrings, Python and JSON 9 fail (0.12 % to 0.43 % at 95 %), release notes, licences and lists of
parameters among them. Of answers doubled all are found, of pieces sent twice two of three.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import SAID_CHARACTERS, Exchange, Response, Signal, Trial
from monitor.writing.prose import prose, prose_of
from monitor.writing.repetition import (
    LEAST_CHARACTERS,
    WINDOW_CHARACTERS,
    Loop,
    copies,
    loops,
    repeated,
    smallest_period,
    stutters,
    tail_loop,
)

CODE = "REPEAT"
# Rulers, dots that lead to a page number, borders, long fractions and white space are healthy up to
# a width that no page has; so are rows of figures, in brackets or not, but not at the end.
_RULER = frozenset(string.digits + string.whitespace + "-=_*#~.,+|^:<>/\\·•…")
_FILLER = _RULER | frozenset(";'\"()[]{}")
_DRAWING = range(0x2500, 0x25A0)
LEAST_FILLER = 200
# Outside of running text, where rows of a table look alike: in 8,600 pieces of documents,
# docstrings, sources, JSON and markup there is one such loop, the base64 of a picture.
LEAST_OUTSIDE, LEAST_TIMES_OUTSIDE = 200, 8
# An answer that is nothing but one character, or one token: from so many on. Stars of a rating
# come by fives and tens, a product may be 111,111,111; "!" is the first piece of most byte-level
# vocabularies, which logits that are no numbers pick (vllm#22881).
LEAST_ALONE, LEAST_DIGITS_ALONE, LEAST_BANGS_ALONE = 11, 20, 4
LEAST_WHOLE, LEAST_TIMES_WHOLE = 16, 6
# Shares of the words of running text in n-grams that stand there three times, or twice. Of 1,500
# pieces of nothing but running text 0.9 % are above one (0.5 % to 1.5 % at 95 %).
LEAST_WORDS = 40
MOST_THRICE, MOST_TWICE = 0.2, 0.5
STUTTER_CHARACTERS = 20_000
# Who asks for something several times gets it. Looked for in the last message alone.
_ABOUT_TIMES = re.compile(
    r"\b(?:twice|thrice|(?:two|three|four|five|ten|\d+) (?:more )?times|double[ds]?|duplicated?"
    r"|copies|chorus|refrain|zweimal|doppelt|deux fois|dos veces)\b|[两二三四五十\d][遍次回]|副歌",
    re.IGNORECASE,
)


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated if the answer ends in a loop, holds a run, is doubled, or repeats itself.

    Text, reasoning and the arguments of each call are looked at one by one. What the request or a
    reference repeats may be repeated; in reasoning, which goes over things again, n-grams may too.
    """
    response = exchange.response
    if response is None:
        return []
    given = _given(exchange, history)
    for offset, part in _parts(response):
        faults = (each for each in _faults(part) if not _is_given(part, each[1], given))
        for variant, loop in faults:
            words = f"{loop.length} characters are {loop.period} over and over"
            signal = failed(CODE, exchange, variant, words)
            return [replace(signal, spans=((offset + loop.start, offset + loop.end),))]
    if times := _times(response.text[:SAID_CHARACTERS], exchange, given):
        return [failed(CODE, exchange, "doubled", f"the whole answer is {times} copies of a part")]
    if share := _share(response.text[:SAID_CHARACTERS], given):
        return [failed(CODE, exchange, "ngrams", f"{share:.0%} of the words are said again")]
    if twice := _stutter(response.text[:STUTTER_CHARACTERS], exchange, given):
        words = f"{twice.period} characters of a sentence stand right behind themselves"
        signal = failed(CODE, exchange, "stutter", words)
        return [replace(signal, spans=((twice.start, twice.end),))]
    return [passed(CODE, exchange, "nothing is said over and over")]


def _given(exchange: Exchange, history: History) -> list[str]:
    """Return what may be repeated: the request, right answers, the golden prompt's references."""
    golden = history.golden.get(exchange.expectation.golden or "")
    facts = [text for fact in exchange.expectation.answers for text in fact.any_of]
    return [exchange.request.text(), *(golden.references if golden else ()), *facts]


def _is_given(text: str, loop: Loop, given: Sequence[str]) -> bool:
    """True if what was given holds a piece of the loop that is already a loop."""
    size = min(loop.length, max(LEAST_CHARACTERS, 2 * loop.period))
    piece = text[loop.start : loop.start + size]
    return any(piece in each for each in given)


def _parts(response: Response) -> Iterator[tuple[int, str]]:
    """Yield text, reasoning and arguments, each with its place in ``Response.written()``."""
    offset = 0
    parts = [("", response.text), ("", response.reasoning_text)]
    parts += [(f"{call.name} ", call.arguments) for call in response.tool_calls]
    for before, part in parts:
        offset += len(before)
        if offset >= SAID_CHARACTERS:
            return
        yield offset, part[: SAID_CHARACTERS - offset]
        offset += len(part) + 1


def _faults(text: str) -> Iterator[tuple[str, Loop]]:
    """Yield loops and runs with their variant, the end of the text first."""
    written = text.rstrip()
    if len(text) - len(written) > LEAST_FILLER:
        yield "tail_loop", Loop(len(written), len(text), 1)
    end = written[len(written) - tail_loop(written) :]
    if len(end) > LEAST_FILLER or not _is_made_of(end, _RULER):
        yield "tail_loop", Loop(len(written) - len(end), len(written), smallest_period(end))
    if whole := _whole(text):
        yield "run", whole
    for loop in _inside(written):
        yield "run", loop


def _is_made_of(text: str, characters: frozenset[str]) -> bool:
    return all(c in characters or ord(c) in _DRAWING for c in set(text))


def _whole(text: str) -> Loop | None:
    """Return a short text as a loop if it is nothing but one character or one short token."""
    bare = text.strip()
    if not bare or len(bare) > WINDOW_CHARACTERS:
        return None
    place = text.index(bare), len(text.rstrip())
    alone = set("".join(bare.split()))
    if len(alone) == 1:
        [character] = alone
        least = LEAST_DIGITS_ALONE if character.isdigit() else LEAST_ALONE
        least = LEAST_BANGS_ALONE if character == "!" else least
        return Loop(*place, 1) if bare.count(character) >= least else None
    period = smallest_period(bare)
    is_token = len(bare) >= max(LEAST_WHOLE, LEAST_TIMES_WHOLE * period)
    return Loop(*place, period) if is_token and not _is_made_of(bare, _FILLER) else None


def _inside(text: str) -> Iterator[Loop]:
    """Yield loops wherever they stand: short ones in running text, long ones elsewhere."""
    for start, end in prose(text):
        for found in loops(text[start:end]):
            loop = Loop(start + found.start, start + found.end, found.period)
            if loop.length > LEAST_FILLER or not _is_made_of(text[loop.start : loop.end], _FILLER):
                yield loop
    for loop in loops(text, characters=LEAST_OUTSIDE):
        is_long = loop.length >= LEAST_TIMES_OUTSIDE * loop.period
        if is_long and not _is_made_of(text[loop.start : loop.end], _FILLER):
            yield loop


def _share(text: str, given: Sequence[str]) -> float:
    """Return the share of repeated words if it is above the allowed one, else 0."""
    running = prose_of(text)
    found = repeated(running)
    if found.words < LEAST_WORDS or not _is_much(found.twice, found.thrice):
        return 0.0
    found = repeated(running, given)
    return max(found.twice, found.thrice) if _is_much(found.twice, found.thrice) else 0.0


def _is_much(twice: float, thrice: float) -> bool:
    return thrice > MOST_THRICE or twice > MOST_TWICE


def _times(text: str, exchange: Exchange, given: Sequence[str]) -> int:
    """Return of how many copies the whole answer is made, if nobody asked for them; else 0."""
    found = copies(text)
    if found is None or _asks_for_times(exchange):
        return 0
    piece = found.part * 2
    return 0 if any(piece in "".join(each.split()) for each in given) else found.times


def _stutter(text: str, exchange: Exchange, given: Sequence[str]) -> Loop | None:
    for loop in stutters(text):
        piece = text[loop.start : loop.start + 2 * loop.period]
        if not (any(piece in each for each in given) or _asks_for_times(exchange)):
            return loop
    return None


def _asks_for_times(exchange: Exchange) -> bool:
    messages = exchange.request.messages
    return bool(messages and _ABOUT_TIMES.search(messages[-1].content))


_BETWEEN = ("", " ", "\n", "\n\n")


def specimens(rng: Random) -> Sequence[Specimen]:
    """Return a loop, one character again and again, an answer and a piece of it twice; and none."""
    scene = Scene(rng)
    start = "The capital of France is Paris"
    twice = rng.randint(20, len(start) - 1)
    token = rng.choice([" and so", " a-", " the the", "\n- Paris"])
    return [
        scene.specimen(an_exchange(start + token * rng.randint(30, 60)), fails="tail_loop"),
        scene.specimen(an_exchange("!" * rng.randint(12, 50)), fails="run"),
        scene.specimen(an_exchange(f"{start}.{rng.choice(_BETWEEN)}{start}."), fails="doubled"),
        scene.specimen(an_exchange(start[:twice] + start[twice - 16 :]), fails="stutter"),
        scene.specimen(an_exchange(f"{start}.\n\n{'-' * rng.randint(60, 80)}")),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=specimens)
