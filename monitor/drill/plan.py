"""Which runs a drill consists of: every chosen fault and null with every seed."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.drill.job import HEALTHY, Job
from monitor.drill.lab import Mechanism
from monitor.errors import UsageError
from monitor.planning import PROFILES
from monitor.reports.drill_summary import Drilled

ALL = "all"
GROUPS = (ALL, "faults", "nulls")


def chosen(known: Sequence[Mechanism], words: str) -> list[Drilled]:
    """Return what ``words`` name: faults and nulls, or the groups all, faults, nulls.

    A lab with nothing switched on is the null ``healthy``. Raises ``UsageError`` for an unknown
    name, or if nothing is named.
    """
    every = [
        *(
            Drilled(
                name=each.name,
                null=each.null,
                sentence=each.sentence,
                deterministic=each.deterministic,
            )
            for each in known
            if each.name != HEALTHY
        ),
        Drilled(name=HEALTHY, null=True, sentence="Nothing is switched on."),
    ]
    names = [word.strip() for word in words.split(",") if word.strip()]
    unknown = sorted(set(names) - {each.name for each in every} - set(GROUPS))
    if unknown or not names:
        offered = ", ".join((*GROUPS, *(each.name for each in every)))
        msg = f"no fault {unknown[0]!r}" if unknown else "no fault is named"
        raise UsageError(f"{msg} (use some of: {offered})")
    groups = {name for name in names if name in GROUPS}
    return [
        each
        for each in every
        if each.name in names or ALL in groups or ("nulls" if each.null else "faults") in groups
    ]


def jobs(
    drilled: Sequence[Drilled], seeds: range, *, profile: str, context_tokens: int, whole: bool
) -> list[Job]:
    """Return the runs, those of the first seed first.

    Nulls are always whole, and faults with the first seed, so that what their plan exposes is
    known. Raises ``UsageError`` for an unknown profile or no seeds.
    """
    if profile not in PROFILES:
        msg = f"no profile {profile!r} (use one of: {', '.join(PROFILES)})"
        raise UsageError(msg)
    if not seeds:
        raise UsageError("no seeds (use --seeds 1 or more)")
    return [
        Job(
            fault=each.name,
            seed=seed,
            null=each.null,
            profile=profile,
            context_tokens=context_tokens,
            whole=whole or each.null or seed == seeds.start,
        )
        for seed in seeds
        for each in drilled
    ]
