"""NONCE: the exchange's own code came back. Near-own is a copy error, absent is no answer to us."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from monitor.canaries import Echo, echo
from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Expectation, Signal, Trial

CODE = "NONCE"


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Pass on an exact echo, fail tolerated on a near one or none."""
    nonce, response = exchange.expectation.nonce, exchange.response
    if nonce is None or response is None:
        return [skipped(CODE, exchange, "no code was to be repeated")]
    match echo(response.answer(), nonce):
        case Echo.OWN:
            return [passed(CODE, exchange, "the code came back")]
        case Echo.NEAR_OWN:
            return [failed(CODE, exchange, "near_own", "the code came back with a copy error")]
        case _:
            return [failed(CODE, exchange, "absent", "the code did not come back")]


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    nonce, other = scene.mint(), scene.mint("tenant-b")
    expects = Expectation(nonce=nonce)
    return [
        scene.specimen(an_exchange(f"It is {other}.", expects=expects), fails="absent"),
        scene.specimen(an_exchange(f"The code is {nonce}.", expects=expects)),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
