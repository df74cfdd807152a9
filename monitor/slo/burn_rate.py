"""Which burn rates can be told: only those whose short window expects enough failures.

At one probe a minute and 99.9 % a single failure burns the hour's budget 16.7 times too fast: over
the 14.4 that pages. Such a rule pages for any failure, so it is not made; the detectors of the
streams, which add evidence up over time, cover what it would have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from monitor.slo.objective import Objective, Sli
from monitor.slo.windows import BURN_TIERS, BurnTier, promql_duration

LEAST_FAILURES = 5
# What covers an objective whose burn cannot be told, by its indicator.
COVERED_BY = {
    Sli.SEMANTIC: "the detectors of the streams (DavylampHardFailures, DavylampWrongAnswers)",
    Sli.AVAILABILITY: "no detector; DavylampNoVerdictLately where nothing is answered at all",
    Sli.LATENCY: "no detector",
    Sli.FIRST_TOKEN: "no detector",
    Sli.NODES: "no detector",
    Sli.PRODUCTION: "no detector: answers of production are not judged",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnChoice:
    """One tier of one objective: whether a rule is made, and in words why or why not."""

    tier: BurnTier
    made: bool
    words: str


def needed(objective: Objective, tier: BurnTier) -> int:
    """Return how many valid events the short window needs to expect enough failures."""
    share = min(1.0, tier.burn * objective.room)
    # Rounded first: 5 / 0.05 is a little more than 100 in floats.
    return math.ceil(round(LEAST_FAILURES / share, 6))


def burn_choices(objective: Objective) -> tuple[BurnChoice, ...]:
    """Return each tier, fastest first, with whether this objective has a rule for it."""
    return tuple(_choice(objective, tier) for tier in BURN_TIERS)


def burn_words(objective: Objective) -> Iterator[str]:
    """Yield in words which tiers have a rule, which not and why, and what covers those instead."""
    choices = burn_choices(objective)
    yield f"{objective.name}: {objective.volume_from}"
    for choice in choices:
        yield f"{objective.name}: {choice.tier.name}: {choice.words}"
    if not all(choice.made for choice in choices):
        yield f"{objective.name}: instead: {COVERED_BY[objective.sli]}"


def _choice(objective: Objective, tier: BurnTier) -> BurnChoice:
    if tier.name not in objective.tiers:
        return BurnChoice(tier=tier, made=False, words="no rule: switched off")
    if tier.burn * objective.room >= 1:
        words = "no rule: the budget burns slower even if everything fails"
        return BurnChoice(tier=tier, made=False, words=words)
    short = promql_duration(tier.short_seconds)
    least, expected = needed(objective, tier), objective.expected(tier.short_seconds)
    counted = (
        f"{short} bring {expected:,.3g} valid events, and {LEAST_FAILURES} failures at "
        f"{tier.burn:g} times the budget need {least:,}"
    )
    made = expected >= least
    return BurnChoice(tier=tier, made=made, words=f"{'rule' if made else 'no rule'}: {counted}")
