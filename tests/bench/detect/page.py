"""The page that the bench writes: what was measured, in tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from monitor.detect.binomial import wilson
from monitor.detect.power import least_detectable
from tests.bench.detect.alarms_over import Over
from tests.bench.detect.coverage import LENGTH, Coverage
from tests.bench.detect.delays import (
    BLIND,
    NAMES,
    OURS,
    RATES,
    Delay,
    Setting,
    fleet_threshold,
)
from tests.bench.detect.fleets import Counted
from tests.bench.detect.numbers import Number
from tests.bench.detect.results import Results
from tests.bench.detect.speed import Speed

SEEN_TOLERANCES = (0.0001, 0.001, 0.01, 0.05, 0.12)
HEAD = """# What detectors promise and what they do

<!-- Written by `make bench-detect`; do not edit. -->

Simulated, with fixed seeds (`tests/bench/detect`). What the detectors are, and why, is in
[detection.md](detection.md). Simulated faults are our idea of faults: each answer fails by itself
with one chance, from one moment on.
"""

FALSE_ALARMS = """## False alarms against the promise

A hundred streams: twenty each that may fail in 0.01 %, 0.1 %, 1 %, 5 % and 10 %, half with 288
scores a day and half with 48, one in ten five times as important. Allowed are one false page in 90
days and one false ticket in 7, for all of them together. Intervals are of 95 %.
"""

PROMISED = """
The promise is about streams whose next score fails with at most the tolerated chance, whatever came
before. A service that is worse by day, or that fails in bursts, breaks it, also where its mean is
within the tolerance: the rows that are not promised say by how much. So a tolerance holds for the
worst hour, and the exchanges of one trial, which fail together, are one score.
"""

SEEN = """## What is seen for sure

The least failure rate that pages nine times in ten within so long, by `detect/power.py`: proven
rather than simulated, and so on the safe side. One of a hundred equal streams, with a score every
five minutes or every half hour. It never comes nearer to the tolerance than some 1.4 times it: the
smallest bet is on twice the tolerated rate, and loses below.
"""

DELAYS = """## How soon, at the same rate of false pages

![From a fault to a page](detect.svg)

Scores until a page, median / nine of ten runs, after a week at a tenth of the tolerance; a score
every five minutes, so 12 are an hour and 288 a day. All rules are set so that 100 streams at their
tolerance bring the *same measured number of false pages*; where counts are too coarse for that, two
neighbouring levels are used in turns.

- *Burn rates* are multiwindow, multi-burn-rate alerts (14.4 and 6, times what matches).
- *Peeking* is a binomial test of the last day, made for one look and made at every score.
- *3 sigma* is a control chart of the last hour.
- *Status and latency* sees statuses and times: every answer comes with a 200, in its usual time, so
  it pages by chance. Faults that also change the time are not simulated. How rarely it pages for
  nothing is extrapolated.

*As published* is how many false pages the rule brings at its usual level: 14.4 and 6, a test at
1 %, and 3 sigma. *Proven* is what `detect/power.py` says without simulating.
"""

OVER = """## What becomes of an alarm

Faults that begin after 1,000 healthy scores, by the product's own watch with the same threshold:

- how far off the estimated onset is, in scores;
- how often the alarm is resolved by mistake while the fault goes on. The rule is made for one in a
  thousand failures; a fault little above the tolerance is taken for a stronger one when it alarms,
  and is resolved more often;
- how many clean scores in a row are asked for when it is raised;
- how many scores after the fault is mended it is over. A fault that alarms again and again is asked
  for more, and a stream that sometimes fails while healthy has its runs broken.
"""

COVERAGE = f"""## Bounds on a rate, looked at after every score

Streams of {LENGTH:,} scores in which bounds at 95 % excluded the true rate at any score.
"""

NUMBERS = """## Numbers of the design study, worked out again

{agreeing} of {all} agree: within three standard errors of the difference of two such simulations,
and half of the last digit. Where there is no error it is arithmetic. Not repeated are ADWIN (it
measures a package that is no dependency), kernel betting and conformal martingales (not used), and
the chances of false matches (`make bench-canaries`).
"""

DISAGREEING = """
Where the study is not exact about what it simulated:

- It does not give the tolerance of its hundred streams. Its counts fit 1 % and its delays 0.1 %; no
  single tolerance fits both. What it concludes holds: sharing the allowance out makes false pages
  some hundred times rarer and delays up to twice as long, and e-BH, which looks at all streams
  together, helps little.
- It does not give the distribution of its scores between 0 and 1. A Beta with mean 0.1 and standard
  deviation 0.07 is used, the simplest that fits most of its delays. Page and Hinkley's test
  compares with the mean of all it saw, so its delay depends on how long all was well: a day here.
- The scores between two false alarms are no fixed multiple of a threshold. That of the e-CUSUM
  changes threefold from one tolerance to another.
- Where 0.1 % may fail any failure fires the burn rates, so their median is that of the first
  failure: 69, 23, 7 and 1 scores. The study's 63 and 27 are off by chance.
"""


def page(results: Results, place: str) -> str:
    """Return the page as Markdown."""
    lines = [HEAD, place, ""]
    lines += _false_alarms(results.fleets, results.uncorrected)
    lines += _delays(results.settings)
    lines += _seen()
    lines += _over(results.over)
    lines += _coverage(results.coverage)
    lines += _numbers(results.numbers)
    lines += _speed(results.speed)
    return "\n".join(lines) + "\n"


def _table(*head: str) -> list[str]:
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]


def _false_alarms(rows: Sequence[Counted], uncorrected: tuple[float, float]) -> Iterator[str]:
    yield FALSE_ALARMS
    yield from _table("healthy streams", "days", "tier", "allowed", "counted", "of the allowed")
    for row in rows:
        shares = [each / row.fleets / row.allowed for each in (row.alarms, *_poisson(row.alarms))]
        name = row.null if row.kept else f"{row.null} (**not promised**)"
        counted = f"{row.alarms / row.fleets:,.3g} ({row.alarms:,} in {row.fleets} fleets)"
        yield (
            f"| {name} | {row.days} | {row.tier} | {row.allowed:.3g} | {counted} | "
            f"{shares[0]:,.2g} ({shares[1]:,.2g} to {shares[2]:,.2g}) |"
        )
    yield PROMISED
    pages, factor = uncorrected
    yield "If each stream were given the whole allowance, 90 days at the tolerance would bring"
    yield f"{pages:.0f} false pages, {factor:.0f} times as many as shared out."
    yield ""


def _poisson(events: int) -> tuple[float, float]:
    """Return a 95 % interval of a count, good enough from one on and safe at 0."""
    if events == 0:
        return 0.0, 3.7
    root = math.sqrt(events)
    return max(0.0, (root - 0.98) ** 2), (root + 0.98) ** 2 + 1


def _delays(settings: Sequence[Setting]) -> Iterator[str]:
    yield DELAYS
    for setting in settings:
        yield from _setting(setting)


def _setting(setting: Setting) -> Iterator[str]:
    yield f"### {setting.y0:.2%} may fail"
    yield ""
    heads = [f"{rate:.1%} fail" if rate < 0.01 else f"{rate:.0%} fail" for rate in RATES]
    yield from _table("rule", *heads)
    by = {(each.rule, each.rate): each for each in setting.delays}
    for name in NAMES:
        cells = [_cell(by[name, rate]) for rate in RATES]
        yield f"| {'**e-SR**' if name == OURS else name} | {' | '.join(cells)} |"
    proven = [by[OURS, rate].proven for rate in RATES]
    cells = ["never" if each is None else f"{each:,}" for each in proven]
    yield f"| e-SR: nine of ten, proven | {' | '.join(cells)} |"
    yield ""
    yield from _table(
        "rule", "level", "false pages in 90 days, 100 streams", "at a tenth of it", "as published"
    )
    for row in setting.false_alarms:
        published = "" if row.published is None else f"{row.published:,.0f}"
        yield (
            f"| {row.rule} | {row.level} | {row.at_tolerance:.2f} (of {row.alarms:.0f} counted) | "
            f"{row.healthy:.2g} | {published} |"
        )
    yield ""


def _cell(delay: Delay) -> str:
    if delay.rule == BLIND and delay.paged < 0.5:
        return f"{delay.paged:.1%} in {delay.horizon // 288} days"
    limit = f"> {delay.horizon:,}"
    median, most = (
        f"{each:,.0f}" if math.isfinite(each) else limit for each in (delay.median, delay.most)
    )
    if median == limit:
        return f"{limit} ({delay.paged:.0%} page)"
    return f"{median} / {most}"


def _seen() -> Iterator[str]:
    yield SEEN
    spans = {1: "a day", 7: "a week", 30: "30 days", 90: "90 days"}
    yield from _table("may fail", "scores a day", "threshold", *spans.values())
    for y0 in SEEN_TOLERANCES:
        for a_day in (288, 48):
            threshold = fleet_threshold(a_day)
            cells = []
            for days in spans:
                rate = least_detectable(y0, threshold, a_day * days, 0.9)
                cells.append("-" if rate is None else f"{rate:.2%}")
            yield f"| {y0:.2%} | {a_day} | {threshold:,.0f} | {' | '.join(cells)} |"
    yield ""


def _over(rows: Sequence[Over]) -> Iterator[str]:
    yield OVER
    yield from _table(
        "may fail",
        "fail",
        "onset off by, median / nine of ten",
        "resolved by mistake",
        "clean scores asked for",
        "over after, median / nine of ten",
    )
    for row in rows:
        yield (
            f"| {row.y0:.1%} | {row.rate:.0%} | {row.onset_median:,.0f} / {row.onset_most:,.0f} | "
            f"{row.resolved} in {row.failures:,} failures | {row.needed:,.0f} | "
            f"{row.over_median:,.0f} / {row.over_most:,.0f} |"
        )
    yield ""


def _coverage(rows: Sequence[Coverage]) -> Iterator[str]:
    yield COVERAGE
    yield from _table("true rate", "confidence sequence", "exact interval for a fixed number")
    for row in rows:
        cells = []
        for wrong in (row.sequence, row.fixed):
            low, high = wilson(wrong, row.streams)
            cells.append(f"{wrong:,} of {row.streams:,} ({low:.1%} to {high:.1%})")
        yield f"| {row.rate:.1%} | {' | '.join(cells)} |"
    yield ""


def _numbers(numbers: Sequence[Number]) -> Iterator[str]:
    agreeing = sum(number.agrees for number in numbers)
    yield NUMBERS.format(agreeing=agreeing, all=len(numbers))
    yield from _table("number", "study", "here", "standard error", "agrees")
    for number in numbers:
        about = f"{number.about} ({number.note})" if number.note else number.about
        error = f"{number.error:.2g}" if number.error else ""
        verdict = "yes" if number.agrees else "**no**"
        yield f"| {about} | {number.theirs:,g} | {_short(number.ours)} | {error} | {verdict} |"
    yield DISAGREEING


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _speed(speed: Speed) -> Iterator[str]:
    one, again = speed.step_seconds * 1e6, speed.restart_seconds * 1e6
    ratios = f"{speed.day_ratio:,.0f} / {speed.month_ratio:,.0f}"
    yield "## What a score costs"
    yield ""
    yield from _table("way", "processor time")
    yield f"| many streams at once, score by score | {_millions(speed.dense_a_second)} |"
    yield f"| the same from failure to failure, 1 % fail | {_millions(speed.rare_a_second)} |"
    yield f"| one stream, a score at a time: what the daemon pays | {one:.0f} us a score |"
    yield f"| kept as JSON and read again | {again:.0f} us |"
    yield f"| working it out anew at each score, from a day / a month of 288 | {ratios} times it |"
    yield ""


def _millions(a_second: float) -> str:
    return f"{a_second / 1e6:,.0f} million scores a second"
