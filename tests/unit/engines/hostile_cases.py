"""What a hostile case is, and how each is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitor.http import Limits
from monitor.model import FailureKind
from tests.unit.engines.asking import CREDENTIAL, ask_once

if TYPE_CHECKING:
    from tests.fakes.hostile import Behaviour

SMALL = Limits(body_bytes=100_000, line_bytes=20_000)
CONTEXT_ERROR = {
    "object": "error",
    "message": "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)."
    " Use a shorter input or enable --allow-auto-truncate.",
    "type": "BadRequest",
    "param": None,
    "code": 400,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A behaviour and what it comes to: a failure, or a text with faults, or both."""

    behaviour: Behaviour
    failure: FailureKind | None = None
    code: int | None = None
    faults: tuple[str, ...] = ()
    text: str | None = None


def check(case: Case, *, streamed: bool) -> None:
    """Check that the case comes to what it says, and that the credential shows nowhere."""
    timeout_seconds = 0.3 if case.failure is FailureKind.TIMEOUT else 5.0
    limits = SMALL if case.failure is FailureKind.OVER_BYTE_LIMIT else None
    reply_ = ask_once(
        case.behaviour, streamed=streamed, timeout_seconds=timeout_seconds, limits=limits
    )
    if case.failure is None:
        assert reply_.failure is None
    else:
        assert reply_.failure is not None, reply_
        assert (reply_.failure.kind, reply_.failure.code) == (case.failure, case.code)
    if case.text is None:
        # An error page is kept, to be searched; it is no answer.
        assert reply_.response is None or reply_.response.written().strip() == ""
    else:
        assert reply_.response is not None
        assert reply_.response.text.startswith(case.text)
        assert reply_.response.text == case.text or case.failure is FailureKind.OVER_BYTE_LIMIT
        assert reply_.response.protocol_faults == case.faults
    assert CREDENTIAL not in repr(reply_)
