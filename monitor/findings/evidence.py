"""What one verdict says for a finding: whether it tells of a fault, where, and by which signals."""

from __future__ import annotations

from monitor.model import Outcome, Signal, Status, Verdict, VerdictClass

_PERSONAL_DATA = ("ENTITY", "novel")
# The prompt was dropped inside the engine, and something else was answered; or will be.
_URGENT = frozenset(
    {
        ("BOUNDARY", "replaced"),
        ("USAGE_IN", "placeholder"),
        ("USAGE_IN", "constant"),
        ("NODE", "over_length"),
    }
)


def tells_of_a_fault(verdict: Verdict) -> bool:
    """Return true for what is bad, and for what has to be reviewed."""
    if verdict.outcome is Outcome.BAD:
        return verdict.verdict_class > VerdictClass.SUSPECT
    return verdict.verdict_class is VerdictClass.SUSPECT and any(
        signal.code == "FOREIGN" or _named(signal) == _PERSONAL_DATA for signal in _failed(verdict)
    )


def is_bare_wrong(verdict: Verdict) -> bool:
    """True if all that is wrong is what a weak model does: no reason for a finding of its own.

    A wrong answer that holds somebody's personal data is reviewed like a right one that does. Parts
    of foreign markers are not: in a wrong answer they are mostly copy errors.
    """
    return verdict.verdict_class is VerdictClass.WRONG and not any(
        _named(signal) == _PERSONAL_DATA for signal in _failed(verdict)
    )


def is_to_review(verdict: Verdict) -> bool:
    """True if nothing is proven."""
    return verdict.verdict_class in (VerdictClass.SUSPECT, VerdictClass.WRONG)


def opening_class(verdict: Verdict) -> VerdictClass:
    """Return the class of a finding that this verdict opens."""
    return VerdictClass.SUSPECT if is_to_review(verdict) else verdict.verdict_class


def failed_signals(verdict: Verdict) -> tuple[str, ...]:
    """Return what a verdict failed in, each once as ``CODE/variant``, in order of their names."""
    return tuple(sorted({"/".join(_named(signal)) for signal in _failed(verdict)}))


def is_urgent(verdict: Verdict) -> bool:
    """True if a signal says that prompts are dropped, or will be, and something else answered."""
    return any(_named(signal) in _URGENT for signal in _failed(verdict))


def place_of(verdict: Verdict) -> tuple[str, str, str]:
    """Return what names a fault: target, shape and stratum."""
    return (verdict.target, verdict.shape, verdict.stratum)


def trials_of(verdict: Verdict) -> tuple[str, ...]:
    """Return the trial a verdict is of, or none."""
    return (verdict.trial,) if verdict.trial else ()


def _failed(verdict: Verdict) -> list[Signal]:
    return [signal for signal in verdict.signals if signal.status is Status.FAIL]


def _named(signal: Signal) -> tuple[str, str]:
    return (signal.code, signal.variant)
