"""What was judged: signals and verdicts, the waist of the hourglass."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum

from monitor.model.trial import Owner


class Outcome(StrEnum):
    """What one exchange, trial or run came to. Four things, never three."""

    GOOD = "good"
    BAD = "bad"
    ERROR = "error"
    INVALID = "invalid"


class Status(StrEnum):
    """What one check says. ``SKIP`` does not apply; ``ERROR`` could not judge."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    ERROR = "error"
    SKIP = "skip"


class VerdictClass(IntEnum):
    """The class of a verdict, larger is worse, so ``max`` picks the one to report."""

    NONE = 0
    SUSPECT = 1
    WRONG = 2
    DRIFT = 3
    UNSAFE_NODE = 4
    CONTRACT = 5
    CORRUPT = 6
    WRONG_INPUT = 7
    CROSSED = 8
    LEAK = 9

    @property
    def label(self) -> str:
        """The name used in metrics, tables and output: ``none`` or e.g. ``LEAK``."""
        return "none" if self is VerdictClass.NONE else self.name


class Lane(StrEnum):
    """What the scores of a stream are about; each lane has a detector of its own."""

    HARD = "hard"
    TOLERATED = "tolerated"
    FIRST_TOKEN = "first_token"  # noqa: S105 - not a password
    FACTS = "facts"
    TREND = "trend"
    JUDGE = "judge"


class SignalKind(StrEnum):
    """Whether a failed signal is something a healthy engine never does."""

    HARD = "hard"
    TOLERATED = "tolerated"
    FLAG = "flag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What one check says of one exchange.

    ``code`` and ``variant`` together have a row in ``verdicts.CONSEQUENCES``. ``explanation`` is
    a template filled with codes and numbers, never model text. ``evidence_bits`` are net.
    """

    code: str
    status: Status
    exchange: int
    variant: str = ""
    explanation: str = ""
    evidence_bits: float | None = None
    score: float | None = None
    owner: Owner | None = None
    marker_id: str | None = None
    places: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeVerdict:
    """The judgement of one exchange, the unit that SLIs count.

    One that was broken off on purpose and shows nothing bad is not ``counted``.
    """

    exchange: int
    outcome: Outcome
    verdict_class: VerdictClass
    reason: str
    hard: bool = False
    tolerated: bool = False
    counted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The waist of the hourglass: complete, self-describing, never changed after it is made.

    ``rescores`` names the verdict a trial was given first, where this one judges it again.
    ``markers`` is how many markers and planted values were known: what answers were searched for.
    """

    id: str
    source: str
    trial: str
    target: str
    model: str
    probe: str
    shape: str
    stratum: str
    decided_at: datetime
    outcome: Outcome
    verdict_class: VerdictClass
    reason: str
    signals: tuple[Signal, ...]
    exchanges: tuple[ExchangeVerdict, ...]
    checks_version: str
    scheduled: bool = True
    finding: str | None = None
    rescores: str = ""
    markers: int = 0
