"""How far a judge is to be trusted: what it said of labelled items, and the gate it must pass.

Raw agreement flatters a judge: one that says "right" of everything agrees with nine labels of ten
where nine of ten are right. Kappa does not (Cohen 1960; judges stand 33 to 41 points lower by it,
arXiv 2606.19544). What a false alarm costs is specificity, so that has a bar of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from monitor.detect.binomial import wilson

# The gate. A judge that calls 5 % of right answers wrong passes it with 100 right items in 12 of
# 100 cases, one that calls 10 % wrong in 0.2 of 100; one that calls 1 % wrong in 92.
LEAST_KAPPA = 0.6
LEAST_SPECIFICITY = 0.98
LEAST_ITEMS, LEAST_WRONG = 180, 50


class Said(StrEnum):
    """What came of asking a judge in both orders."""

    RIGHT = "right"
    WRONG = "wrong"
    ABSTAINED = "abstained"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What a judge said of labelled answers; what it could not answer at all is ``broken``."""

    right_said_right: int = 0
    right_said_wrong: int = 0
    right_abstained: int = 0
    wrong_said_right: int = 0
    wrong_said_wrong: int = 0
    wrong_abstained: int = 0
    broken: int = 0

    @property
    def right(self) -> int:
        """Right answers it was shown and did not break on."""
        return self.right_said_right + self.right_said_wrong + self.right_abstained

    @property
    def wrong(self) -> int:
        """Wrong answers it was shown and did not break on."""
        return self.wrong_said_right + self.wrong_said_wrong + self.wrong_abstained


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of a count with Wilson's 95 % interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A judge's report. ``specificity``: of right answers, those it does not call wrong.

    ``sensitivity``: of wrong answers, those it calls wrong. An abstention is no alarm and no
    detection. ``kappa`` is over the answers it decided; 0 if its word carries nothing.
    """

    items: int
    kappa: float
    sensitivity: Share
    specificity: Share
    abstained: int
    broken: int
    mistrust: str


def tally(said: Iterable[tuple[bool, Said]]) -> Tally:
    """Count what was said of answers, each given with its label (true: right)."""
    counts = dict.fromkeys(((label, each) for label in (True, False) for each in Said), 0)
    for label, each in said:
        counts[label, each] += 1
    return Tally(
        right_said_right=counts[True, Said.RIGHT],
        right_said_wrong=counts[True, Said.WRONG],
        right_abstained=counts[True, Said.ABSTAINED],
        wrong_said_right=counts[False, Said.RIGHT],
        wrong_said_wrong=counts[False, Said.WRONG],
        wrong_abstained=counts[False, Said.ABSTAINED],
        broken=counts[True, Said.BROKEN] + counts[False, Said.BROKEN],
    )


def agreement(found: Tally) -> Agreement:
    """Return the report of what was found, with why the judge is not trusted, if it is not."""
    specific = found.right - found.right_said_wrong
    return Agreement(
        items=found.right + found.wrong,
        kappa=kappa(found),
        sensitivity=_share(found.wrong_said_wrong, found.wrong),
        specificity=_share(specific, found.right),
        abstained=found.right_abstained + found.wrong_abstained,
        broken=found.broken,
        mistrust=_mistrust(found),
    )


def kappa(found: Tally) -> float:
    """Return Cohen's kappa, (po - pe) / (1 - pe), of the answers that were decided."""
    a, b = found.right_said_right, found.right_said_wrong
    c, d = found.wrong_said_right, found.wrong_said_wrong
    decided = a + b + c + d
    if not decided:
        return 0.0
    agreed = (a + d) / decided
    chance = ((a + b) * (a + c) + (c + d) * (b + d)) / decided**2
    return (agreed - chance) / (1 - chance) if chance < 1 else 0.0


def _mistrust(found: Tally) -> str:
    """Return why a judge's word counts for nothing yet; nothing if it counts."""
    items = found.right + found.wrong
    if items < LEAST_ITEMS or found.wrong < LEAST_WRONG:
        return f"{items} items were tried, {found.wrong} of them wrong; it takes {LEAST_ITEMS}"
    if (agrees := kappa(found)) < LEAST_KAPPA:
        return f"kappa {agrees:.2f} of {items} items is below {LEAST_KAPPA}"
    if found.right - found.right_said_wrong < LEAST_SPECIFICITY * found.right:
        return (
            f"it called {found.right_said_wrong} of {found.right} right answers wrong, "
            f"more than {1 - LEAST_SPECIFICITY:.0%}"
        )
    return ""


def _share(count: int, of: int) -> Share:
    low, high = wilson(count, of)
    return Share(share=count / of if of else 0.0, low=low, high=high)
