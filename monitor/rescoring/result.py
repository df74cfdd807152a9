"""What a run of ``rescore`` came to: exit code, words and report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from monitor import __version__
from monitor.checks import CHECKS_VERSION
from monitor.config import Config
from monitor.reports.rescore import RescoreReport
from monitor.reports.summary import BAD_EXIT, GOOD_EXIT, UNSURE_EXIT
from monitor.rescoring.asking import Rescore
from monitor.rescoring.opening import Missing
from monitor.rescoring.tally import Tally, counts


def report_of(
    config: Config, asked: Rescore, targets: Sequence[str], tally: Tally
) -> RescoreReport:
    """Return the report of a run that is over."""
    exit_code, words = verdict_of(tally)
    return RescoreReport(
        davylamp_version=__version__,
        checks_version=CHECKS_VERSION,
        old_checks_versions=counts(tally.versions),
        configuration_hash=config.hash,
        environment=config.environment,
        since=asked.since,
        until=asked.until,
        targets=list(targets),
        key_id=asked.opener.key_id,
        exit_code=exit_code,
        verdict=words,
        trials=tally.trials,
        earlier=tally.earlier,
        judged=tally.judged,
        sealed=tally.missing[Missing.SEALED],
        absent=tally.missing[Missing.ABSENT],
        unreadable=tally.missing[Missing.UNREADABLE],
        sealed_to=counts(tally.sealed_to),
        unreadable_why=counts(tally.unreadable_why),
        worse=tally.worse,
        better=tally.better,
        less_known=tally.less_known,
        unsure=tally.unsure,
        uncovered=tally.uncovered,
        changed_trials=tally.moved,
        signals_only=tally.signals_only,
        matrix=tally.matrix(),
        changed=tally.changed(),
        notes=list(_notes(config, targets, tally)),
    )


def verdict_of(tally: Tally) -> tuple[int, str]:
    """Return the exit code and the result in words; what is worse goes before what is not known."""
    if tally.uncovered:
        return BAD_EXIT, f"{_trials(tally.uncovered)} leak, and no finding says so"
    if tally.worse:
        return BAD_EXIT, f"{_trials(tally.worse)} worse than they were judged"
    if not tally.judged:
        nothing = "none could be judged again" if tally.trials else "there is nothing to judge"
        return UNSURE_EXIT, nothing
    if tally.unsure:
        return UNSURE_EXIT, f"{_trials(tally.unsure)} cannot be judged any more"
    moved = f"nothing is worse, {_trials(tally.moved)} judged otherwise"
    words = (moved if tally.moved else "judged as before") + _not_judged(tally.missing)
    # What is damaged was meant to be read here; what is sealed to another key or not kept was not.
    return (UNSURE_EXIT if tally.missing[Missing.UNREADABLE] else GOOD_EXIT), words


def _not_judged(missing: Counter[Missing]) -> str:
    """Return how many trials could not be judged again, and why; nothing if all could."""
    said = [
        f"{missing[why]} {words}"
        for why, words in (
            (Missing.UNREADABLE, "unreadable"),
            (Missing.SEALED, "sealed to another key"),
            (Missing.ABSENT, "without their texts"),
        )
        if missing[why]
    ]
    return (
        f"; {_trials(missing.total())} could not be judged again: {', '.join(said)}" if said else ""
    )


def _trials(number: int) -> str:
    return f"{number} trial" if number == 1 else f"{number} trials"


def _notes(config: Config, targets: Sequence[str], tally: Tally) -> Iterator[str]:
    gone = [name for name in targets if config.target(name) is None]
    if gone:
        yield (
            f"no longer configured: {', '.join(gone)}; judged without terms, settings and "
            "calibration"
        )
    if tally.less_known:
        yield (
            f"{_trials(tally.less_known)} judged otherwise perhaps only because texts from before "
            "are missing, and what was known then is not known now"
        )
    if config.settings.checks.judge is not None:
        yield "no judge was asked: what it said at the time counts"
    bodies = config.storage.bodies
    if tally.missing[Missing.ABSENT] and bodies is not None and bodies.keep == "not_good":
        yield "storage.bodies.keep is not_good: what was good is not kept"
    if tally.missing[Missing.ABSENT] and bodies is None:
        yield "storage.bodies is not configured: no texts are kept now"
