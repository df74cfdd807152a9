"""The result of ``davylamp findings verify``: a documented contract (docs/findings.md).

It holds codes, numbers and our own words; never prompt or answer text.
"""

from __future__ import annotations

from monitor.reports.examination import ExaminationReport, exposure_words, line, percent
from monitor.reports.terminal import printable

VERIFICATION_SCHEMA_VERSION = "1.0"


class VerificationReport(ExaminationReport):
    """Whether a fault still shows, and at most how often if it does not.

    ``needed`` clean replays bring the upper bound below ``bound``. ``upper_bound`` is what the
    ``clean`` ones prove at ``confidence``, if the fault did not show. ``wrong`` of them were
    answered wrongly, which is another fault than this and judged by rate. ``sends`` is false if
    only the plan was asked for.
    """

    schema_version: str = VERIFICATION_SCHEMA_VERSION
    bound: float
    confidence: float
    needed: int
    sends: bool
    clean: int
    wrong: int
    unclear: int
    upper_bound: float | None


def plan_words(report: VerificationReport) -> str:
    """Return what a verification takes, for whoever is about to pay."""
    tokens = f"{report.answered_tokens:,} tokens"
    if report.refused_tokens < report.answered_tokens:
        tokens = f"{report.refused_tokens:,} tokens if each is refused, {tokens} if answered"
    return (
        f"{report.needed} replays of {report.replayed} ({report.probe} {report.stratum}): "
        f"{tokens}; {report.left_tokens:,} left of the {report.budget} budget today"
    )


def render_verification(report: VerificationReport) -> list[str]:
    """Return the lines of a verification: what was proven, at which price, and what comes next."""
    lines = [
        f"{report.finding}  {report.finding_class}  {report.target}  {report.verdict.upper()}",
        line("PLAN", plan_words(report)),
    ]
    if report.sends:
        sent = f"{len(report.trials)} replays: {report.clean} clean"
        sent += f", {report.unclear} could not tell" if report.unclear else ""
        lines.append(line("SENT", sent))
    if report.upper_bound is not None:
        lines.append(
            line(
                "PROVEN",
                f"the fault shows in at most {percent(report.upper_bound)} of such trials "
                f"({report.confidence:.0%} confidence)",
            )
        )
    if report.wrong:
        lines.append(
            line("NOTE", f"{report.wrong} were answered wrongly: judged by rate, not here")
        )
    lines += [line("REASON", reason) for reason in report.reasons]
    if report.sends:
        lines.append(line("EXPOSED", exposure_words(report.exposures)))
        lines.append(line("TOKENS", f"{report.spent_tokens:,} charged"))
    lines += [line("NEXT", command) for command in _next(report)]
    lines += ["", f"{report.verdict.upper()} (exit {report.exit_code})"]
    return [printable(each) for each in lines]


def _next(report: VerificationReport) -> list[str]:
    if not report.sends:
        return [f"davylamp findings verify {report.finding} --bound {report.bound:g}"]
    if report.exit_code == 0:
        proven = percent(report.upper_bound or 1.0)
        why = f"{report.clean} replays clean, at most {proven} (95 %)"
        return [f'davylamp findings resolve {report.finding} --why "{why}"']
    shown = [each.trial for each in report.trials if each.reading == "shown"]
    return [f"davylamp explain {trial}" for trial in shown]
