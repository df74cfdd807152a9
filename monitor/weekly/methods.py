"""How the report was worked out and what it does not say, in words that stand in the report."""

from __future__ import annotations

from monitor.weekly.coverage import LEAST_ANSWERS
from monitor.weekly.judging import (
    LEAST_HOURS,
    LONGEST_UNKNOWN_HOURS,
    MOST_GONE_SHARE,
    MOST_UNKNOWN_SHARE,
)
from monitor.weekly.running_record import MethodRow

_WORDS = {
    "what is counted": (
        "Scheduled exchanges of probes, each once: those of the daemon's schedule, and those of "
        "every pass that somebody started with davylamp check. The store keeps both alike, so how "
        "many came from checks is not known, and whoever repeats checks makes all numbers here "
        "larger. Good and bad ones are valid; errors are the target's (a 429, a timeout), invalid "
        "ones ours. Neither is ever good or bad. Confirmations, verification, measured contexts, "
        "calibrations, reported and rescored answers are in no rate of them."
    ),
    "judgement of a target": (
        "Bad if anything is: a finding that is proven and not dismissed was open in the week, a "
        "LEAK or CROSSED is in no finding, a kept answer was found bad when judged again, more bad "
        "answers than the objective allows are shown, an objective (but coverage) is missed over "
        "its own window, a node failed, or the context fails below what is advertised. Good only "
        "if none of these is so, of every planned stratum at least half of what was asked "
        f"was judged, the rows of all but {MOST_GONE_SHARE:.0%} of its verdicts are still kept, "
        f"on each day and in {LEAST_HOURS} hours or more there was a judged answer, at least half "
        "of what was asked could be judged, the exact 95 % bound of this one look lies within the "
        "objective, "
        "every objective of the whole target is met, and of each node not more than "
        f"{MOST_UNKNOWN_SHARE:.0%} of the readings, and for not more than "
        f"{LONGEST_UNKNOWN_HOURS:g} hours at a stretch, could not tell; and only for what was "
        "seen. Everything else could not be told."
    ),
    "objectives": (
        "Counted from the store by the definitions of the rules for Prometheus, up to the week's "
        "end. latency: every exchange of a probe, failed ones and confirmations too; first_token: "
        "those that were streamed and had a first token. They are of the time they began, where "
        "Prometheus has them from the scrape after their verdict, and those that commands asked "
        "while no daemon ran are among them. Times of rows that expired or were erased are not "
        "known: the sums say of how many at most, as they count a row that was written twice "
        "twice. nodes: "
        "readings as stored, where Prometheus counts scrapes. coverage: the sizes of the target's "
        "plan as it was when the report was built, and those that were judged, as Prometheus has "
        "it; it is counted whole, so its bounds are what it is. Sizes that are left out as not "
        "gentle count as not judged; where no other is missing they keep no target from good, and "
        "why names them. production, requests of users, is counted by "
        "Prometheus alone and was not looked at here."
    ),
    "bad verdicts in no finding, and judged again": (
        "A mistake (WRONG) of a scheduled trial opens no finding and is in the rates. Every other "
        "bad verdict that no finding tells of is listed: of trials by which people looked at a "
        "finding, measured or calibrated, of confirmations, and twins of what a person dismissed. "
        "What was judged again counts in no rate, and is listed if it came out bad, or worse than "
        "before."
    ),
    "intervals of weeks and objectives": (
        "Confidence sequences at 95 % (Robbins 1970; a uniform mixture): they hold however "
        "often somebody looks, and are wider than intervals of a number fixed before. An error "
        "budget has the bounds of its rate. Each interval holds for itself."
    ),
    "bounds of strata and cells": (
        "Exact one-sided Clopper-Pearson bounds at 95 %, for a number of answers that the "
        "schedule fixed before: they do not hold for somebody who repeats checks until they look "
        "well. None bad in n leaves 1 - 0.05^(1/n), about 3 / n. A bound of "
        "100 % says that nothing is known. Of many cells some bounds fail by chance."
    ),
    "the coverage map": (
        f"Clean takes {LEAST_ANSWERS} answers, at least half of those asked, none bad, and at "
        "least half of each planned stratum in it; else a cell is grey. A cell that was never "
        "probed, or that no plan asks, is hatched: whatever is there was not seen. Lengths and "
        "concurrencies are all that the target's plan and week have; a length that only one shape "
        "knows is no cell of the others."
    ),
    "what would have shown": (
        "Of a stratum: a fault at that rate or more of its exchanges strikes at least once in "
        "95 of 100 weeks like this; whether a strike is recognised is what the drill measures. "
        "Of a detector: such a rate surely alarms within the week's scores in 95 of 100."
    ),
    "trend": (
        "Worse or better only where the interval of the week lies apart from that of the week "
        "before. Else no change is shown, which does not say that there is none."
    ),
    "findings": (
        "As they stood at the week's end: later decisions are told in later reports. Onset is "
        "the first bad verdict, which comes after the first wrong answer to a user. Pages and "
        "tickets are those that Davylamp sent itself and a receiver took; what Alertmanager "
        "routes is not known here. When a target was taken out of rotation is what people told: "
        "Davylamp drains nothing and sees nobody do it."
    ),
    "leaks": (
        "Only registered texts of synthetic tenants are recognised. The text itself is not in "
        "this report: davylamp evidence export makes a certificate that shows it."
    ),
    "streams": (
        "Detectors stand as the store last kept them, which may be after the week's end; their "
        "scores of the week are counted. One that had none before the week's end is left out."
    ),
    "nodes": (
        "What a node says of itself, held against rules. A node that is listed is held to the "
        "whole week, but not to before the first reading ever of a node of its target; one that "
        "was found may come and go, and is held to the time between its first and its last "
        "reading. Days failing count from the first failing reading since the last good one: how "
        "it was before it was first read is not known. Days exposed count from the day on which "
        "the oldest fault that it fails by became public, by the rules of when the report was "
        "built."
    ),
    "accepted deviations and plans": ("As configured when the report was built."),
    "prompts": (
        "Golden prompts come with a version of Davylamp; the version of one is a digest of all "
        "that it asks and expects. What is told are prompts that were asked in the week and not "
        "in the week before, those that were asked in another version than before, and those "
        "that were asked in the week before only: where one was asked n times then, chance alone "
        "leaves it out in one of 2^n weeks. Of what was asked before versions were kept, no change "
        "is told."
    ),
    "what it cannot show": (
        "Answers to users are not read. A fault that strikes only where nobody asked, or that "
        "checks do not recognise, is not in here."
    ),
}
METHODS = tuple(MethodRow(subject=subject, method=words) for subject, words in _WORDS.items())
