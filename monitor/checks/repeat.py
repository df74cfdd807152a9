"""REPEAT: the answer does not end in a loop.

The tail-loop rule: the longest end of the last 2000 characters that is at least four repetitions
of one period and at least 60 characters. Measured on about 1150 legitimate windows of prose, code
and JSON: no false alarm (at most 0.26 % at 95 %); a compression ratio flags half of all code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Signal, Trial

CODE = "REPEAT"
WINDOW_CHARACTERS = 2000
LEAST_REPETITIONS = 4
LEAST_CHARACTERS = 60


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated if the answer ends in a loop."""
    if exchange.response is None:
        return []
    text = exchange.response.written().rstrip()
    length = tail_loop(text)
    if not length:
        return [passed(CODE, exchange, "no loop at the end")]
    signal = failed(CODE, exchange, "tail_loop", f"the last {length} characters are a loop")
    return [replace(signal, spans=((len(text) - length, len(text)),))]


def tail_loop(text: str) -> int:
    """Return how many characters at the end of ``text`` are a loop; 0 if they are none. O(n).

    A text reversed, its failure function (Knuth, Morris, Pratt) gives the smallest period of
    every prefix, which is an end of the text.
    """
    tail = text[-WINDOW_CHARACTERS:][::-1]
    borders = [0] * (len(tail) + 1)
    longest = border = 0
    for end in range(1, len(tail)):
        while border and tail[end] != tail[border]:
            border = borders[border]
        border += tail[end] == tail[border]
        borders[end + 1] = border
        size = end + 1
        if size >= LEAST_CHARACTERS and size >= LEAST_REPETITIONS * (size - border):
            longest = size
    return longest


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    loop = f"the {rng.randint(10, 99)} boats came in and "
    return [
        scene.specimen(an_exchange("It is Paris, since " + loop * 12), fails="tail_loop"),
        scene.specimen(an_exchange(f"It is Paris: {loop}the harbour was full.")),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.SOME_TEXT, specimens=_specimens)
