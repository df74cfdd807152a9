"""Whether every check sees what it must, with the models that are configured loaded."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import closing

from monitor.cli.doctor_line import Line, Surroundings, fail, ok
from monitor.scorers import scorer_of
from monitor.selftest import SelfTester

_REMEDY = "mend its section under checks (its model, its extra), or install this version anew"


async def check_checks(around: Surroundings) -> AsyncIterator[Line]:
    """Try every check with answers whose right judgement is known; one line for each blind one."""
    with closing(scorer_of(around.config)) as scorer:
        tested = await SelfTester(around.clock, scorer).run(secrets.randbits(64))
    # Of several specimens that a check misjudged, the first tells enough.
    for check, words in {each.check: each.words for each in reversed(tested.blind)}.items():
        yield fail(f"check {check}", f"blind: {words}", _REMEDY)
    if not tested.blind:
        measured = f", {', '.join(sorted(scorer.codes))} by its model" if scorer.codes else ""
        yield ok("checks", f"all {len(tested.checks)} see what they must{measured}")
