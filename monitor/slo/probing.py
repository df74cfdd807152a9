"""Alerts on whether probing itself works: what nobody looks at is never green."""

from __future__ import annotations

from monitor import conventions as names
from monitor.conventions.pages import (
    PAGE_INCIDENTS_UNSAID,
    PAGE_OUTBOX_AGE,
    PAGES,
    PageOutcome,
)
from monitor.conventions.reports import (
    REPORT_FAILURES,
    REPORTS_MISSING,
    REPORTS_UNTOLD,
    ReportFailure,
)
from monitor.conventions.streams import STREAM_VALID_RATIO, STREAMS_NOT_WATCHED, NotWatched
from monitor.slo.alert import Alert
from monitor.slo.promql import equals, fits, last_said, selector

_TARGET = ("env", "target")
_HOUR = 3600
# For how long an environment that is gone is missed: over a weekend and more.
_REMEMBERED = "7d"
_UNSEEN_LIMITS = selector(
    names.NOT_PROBED.name,
    fits("stratum", "(over|under)-.+"),
    fits("reason", "budget|no_answer|backing_off"),
)
_SUCCESS, _EVERY = names.LAST_SUCCESS.name, names.SCHEDULE_INTERVAL.name
_OVERDUE = f"3 * {_EVERY} + 600"
_LAST = f"max by (env, target, probe) ({_SUCCESS})"
_CRASHED = selector(REPORT_FAILURES.name, equals("kind", ReportFailure.CRASHED))
_CALIBRATION, _SPOOL = names.CALIBRATION.name, names.SPOOL_BYTES.name

# What is not looked at, or too late.
PROBING_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="DavylampBudgetExhausted",
        expr=f"{names.BUDGET_EXHAUSTED.name} == 1",
        wait="5m",
        severity="warning",
        summary="{{ $labels.target }}: the {{ $labels.budget }} budget of today is exhausted",
        description=(
            "A trial could not be paid. What the {{ $labels.budget }} budget pays for is not "
            "looked at until midnight UTC."
        ),
        evidence=(names.BUDGET_REMAINING.name, (*_TARGET, "budget")),
    ),
    Alert(
        name="DavylampBoundaryNotProbed",
        expr=(f"max by (env, target, probe, stratum, reason) (\n  {_UNSEEN_LIMITS}\n) == 1"),
        wait="1h",
        severity="warning",
        summary=(
            "{{ $labels.target }}: nobody looks at {{ $labels.stratum }} ({{ $labels.reason }})"
        ),
        description=(
            "What happens to prompts at this context limit is not known: every status code "
            "may be 200 and every answer wrong."
        ),
        evidence=(names.NOT_PROBED.name, _TARGET),
    ),
    Alert(
        name="DavylampMissedRuns",
        expr=f"sum by (env, target) (increase({names.MISSED_RUNS.name}[1h])) > 5",
        severity="warning",
        summary="{{ $labels.target }}: {{ $value | printf `%.0f` }} runs missed in an hour",
        description=(
            "Runs came too late, the one before was still under way, or the monitor stood still."
        ),
        evidence=(names.MISSED_RUNS.name, _TARGET),
    ),
    Alert(
        name="DavylampScheduleLag",
        expr=f"{names.SCHEDULE_LAG.name} > 15",
        wait="15m",
        severity="warning",
        summary="{{ $labels.target }}: trials begin {{ $value | printf `%.0f` }} s late",
        description="The monitor cannot keep up with its own schedule.",
        evidence=(names.SCHEDULE_LAG.name, _TARGET),
    ),
    Alert(
        name="DavylampUnauthorised",
        expr=(
            "sum by (env, target, code) (\n"
            f"  increase({selector(names.HTTP_RESPONSES.name, fits('code', '401|402|403'))}"
            "[30m])\n"
            ") > 3"
        ),
        severity="warning",
        summary="{{ $labels.target }}: the monitor is refused ({{ $labels.code }})",
        description=(
            "A credential is refused, or its account is out of money. Until that is mended "
            "nothing is learnt of this target."
        ),
        evidence=(names.HTTP_RESPONSES.name, _TARGET),
    ),
)

# What should be there and is not.
SILENCE_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="DavylampNoVerdictLately",
        expr=(f"time() - ({_LAST} > 0)\n> on (env, target, probe) ({_OVERDUE})"),
        wait="5m",
        severity="warning",
        summary=("{{ $labels.target }}: no answer of {{ $labels.probe }} could be judged lately"),
        description=(
            "Three times the interval of this probe went by without a good or bad verdict. "
            "Errors are no verdict: the target may be down, or its credential refused."
        ),
        evidence=(_SUCCESS, (*_TARGET, "probe")),
    ),
    Alert(
        name="DavylampNeverJudged",
        # What asks often must not be forgiven for each restart; what asks rarely needs its time.
        expr=(
            f"{_LAST} == 0\nand on (env, target, probe) (\n  {_EVERY} < {2 * _HOUR}\n"
            f"  or {_OVERDUE} < ignoring (target, probe) group_left ()"
            f" (time() - {names.START_TIME.name})\n)"
        ),
        wait="6h",
        severity="warning",
        summary=(
            "{{ $labels.target }}: no answer of {{ $labels.probe }} was judged since the start"
        ),
        description=(
            "This probe has shown nothing yet, neither good nor bad, in six hours; if it asks "
            "every two hours or more rarely, in three times its interval and six hours."
        ),
        evidence=(_SUCCESS, (*_TARGET, "probe")),
    ),
    Alert(
        name="DavylampAbsent",
        expr=f"absent({names.BUILD_INFO.name})",
        wait="10m",
        severity="critical",
        summary="No Davylamp is scraped: nobody looks at the answers",
        description="The daemon is down, or its /metrics is not reached.",
        evidence=(names.BUILD_INFO.name, ()),
    ),
    Alert(
        name="DavylampEnvironmentAbsent",
        # While any other is scraped, absent() is empty.
        expr=(
            f"group by (env) (last_over_time({names.BUILD_INFO.name}[{_REMEMBERED}]))\n"
            f"unless group by (env) ({names.BUILD_INFO.name})"
        ),
        wait="10m",
        severity="critical",
        summary="No Davylamp of {{ $labels.env }} is scraped: nobody looks at its answers",
        description=(
            f"One was within the last {_REMEMBERED}. The daemon is down, or its /metrics is not "
            "reached."
        ),
        evidence=(names.BUILD_INFO.name, ("env",)),
    ),
    Alert(
        name="DavylampWatchdog",
        expr=f"group by (env) ({names.BUILD_INFO.name})",
        severity="info",
        summary="Davylamp in {{ $labels.env }}: always firing; if it stops, alerts reach nobody",
        description=(
            "A dead man's switch: it fires while Davylamp is scraped, Prometheus evaluates "
            "and Alertmanager sends. Its receiver raises the alarm when it falls silent."
        ),
        evidence=(names.BUILD_INFO.name, ("env",)),
    ),
)

# Checks, detectors and references that cannot be relied on.
SIGHT_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="DavylampCheckBlind",
        expr=f"{names.CHECK_BLIND.name} == 1",
        severity="warning",
        summary="Davylamp in {{ $labels.env }}: the check {{ $labels.signal }} is blind",
        description=(
            "It misjudged an answer whose right judgement is known. What it did not find "
            "since the last self-test that was right is not known to be absent."
        ),
        evidence=(names.CHECK_BLIND.name, ("env", "signal")),
    ),
    Alert(
        name="DavylampSelfTestStale",
        expr=f"time() - {names.SELF_TEST_TIME.name} > {3 * _HOUR}",
        wait="10m",
        severity="warning",
        summary="Davylamp in {{ $labels.env }}: the checks were not tried for three hours",
        description="Whether every check still sees is not known.",
        evidence=(names.SELF_TEST_TIME.name, ("env",)),
    ),
    Alert(
        name="DavylampDetectorBlind",
        expr=f"{STREAM_VALID_RATIO.name} < 0.5",
        wait="1h",
        severity="warning",
        summary=(
            "{{ $labels.target }}: a detector sees {{ $value | humanizePercentage }} of its trials"
        ),
        description=(
            "Most trials of the stream {{ $labels.lane }}, probe {{ or $labels.probe `any` "
            "}}, stratum {{ or $labels.stratum `any` }} gave no score: errors, or answers "
            "that could not be judged. A fault there takes long to be seen."
        ),
        evidence=(STREAM_VALID_RATIO.name, (*_TARGET, "probe", "stratum", "lane")),
    ),
    Alert(
        name="DavylampStreamsNotWatched",
        expr=(
            "sum by (env, target) (\n"
            f"  {selector(STREAMS_NOT_WATCHED.name, equals('reason', NotWatched.TOLERANCE))}\n"
            ") > 0"
        ),
        wait="1h",
        severity="warning",
        summary="{{ $labels.target }}: {{ $value | printf `%.0f` }} streams can raise no alarm",
        description=(
            "More failures are tolerated there than a detector can be held to: whatever it "
            "answers, nobody is called."
        ),
        evidence=(STREAMS_NOT_WATCHED.name, _TARGET),
    ),
    Alert(
        name="DavylampCalibrationBroken",
        expr=f"{selector(_CALIBRATION, equals('state', 'broken'))} == 1",
        severity="warning",
        summary="{{ $labels.target }}: its calibration is not what was signed",
        description=(
            "A record in the store was changed, or the installation key was. It is not used: "
            "the default tolerance holds until somebody calibrates anew."
        ),
        evidence=(_CALIBRATION, _TARGET),
    ),
    Alert(
        name="DavylampCalibrationStale",
        expr=f"{selector(_CALIBRATION, equals('state', 'stale'))} == 1",
        wait="1d",
        severity="warning",
        summary="{{ $labels.target }}: its calibration is of another model, version or check",
        description=(
            "What it was recorded under has changed. It is not used: the default tolerance "
            "holds until somebody calibrates anew."
        ),
        evidence=(_CALIBRATION, _TARGET),
    ),
    Alert(
        name="DavylampJudgeDistrusted",
        expr=f"{names.JUDGE_TRUSTED.name} == 0",
        wait="1h",
        severity="warning",
        summary="{{ $labels.target }}: this judge is not trusted, and its word counts nothing",
        description=(
            "It agrees with too few of the labelled items it is asked between answers, or was "
            "asked too few yet."
        ),
        evidence=(names.JUDGE_TRUSTED.name, _TARGET),
    ),
)

# Rows and pages that wait or are lost.
KEEPING_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="DavylampSpoolWaits",
        expr=f"{names.SPOOL_AGE.name} > 300",
        wait="5m",
        severity="warning",
        summary=(
            "Davylamp in {{ $labels.env }}: rows wait {{ $value | printf `%.0f` }} s for the "
            "database"
        ),
        description=(
            "Nothing is lost: they are on the monitor's disk. What they say is missing from "
            "every question to the store until the database takes them."
        ),
        evidence=(names.SPOOL_AGE.name, ("env",)),
    ),
    Alert(
        name="DavylampSpoolFull",
        expr=f"{_SPOOL} > 0.8 * {names.SPOOL_LIMIT.name}",
        wait="1m",
        severity="critical",
        summary="Davylamp in {{ $labels.env }}: the spool is nearly full, soon nothing is probed",
        description=(
            "The database has taken no rows for so long that there is hardly room for more. "
            "Sealed texts are shed first; then trials fail."
        ),
        evidence=(_SPOOL, ("env",)),
    ),
    Alert(
        name="DavylampRowsDropped",
        expr=f"increase({names.WRITER_DROPPED.name}[1h]) > 0",
        severity="warning",
        summary=(
            "Davylamp in {{ $labels.env }}: {{ $value | printf `%.0f` }} rows were given up "
            "({{ $labels.reason }})"
        ),
        description=(
            "Rows were shed for want of room, or laid aside because nobody can write or read them."
        ),
        evidence=(names.WRITER_DROPPED.name, ("env", "reason")),
    ),
    Alert(
        name="DavylampPagesWait",
        expr=f"{PAGE_OUTBOX_AGE.name} > 300",
        wait="2m",
        severity="critical",
        summary=(
            "Davylamp in {{ $labels.env }}: a page has waited {{ $value | printf `%.0f` }} s to "
            "be sent"
        ),
        description=(
            "A fault that wakes people is known, and nobody was told: the pager is not "
            "reached. It is tried again and again."
        ),
        evidence=(PAGE_OUTBOX_AGE.name, ("env",)),
    ),
    Alert(
        name="DavylampPagesRejected",
        # An incident is unsaid until it is taken or over; what else was rejected, for an hour.
        expr=(
            f"max by (env, route) ({last_said(PAGE_INCIDENTS_UNSAID.name)}) > 0\n"
            "or sum by (env, route) (\n"
            f"  increase({selector(PAGES.name, equals('outcome', PageOutcome.REJECTED))}[1h])\n"
            ") > 0"
        ),
        severity="critical",
        summary="Davylamp in {{ $labels.env }}: pages were rejected by {{ $labels.route }}",
        description=(
            "The pager said no, for good: a wrong routing key, or an event it does not "
            "understand. They are not sent again before the daemon is restarted; "
            "`davylamp findings list` says what is open."
        ),
        evidence=(PAGE_INCIDENTS_UNSAID.name, ("env", "route")),
    ),
    Alert(
        name="DavylampReportMissing",
        # Reports that have ended by a crash are not built until a start, which counts anew.
        expr=(
            f"max by (env) ({last_said(REPORTS_MISSING.name)}) > 0\n"
            f"or max by (env) ({last_said(_CRASHED)}) > 0"
        ),
        wait="1h",
        severity="warning",
        summary="Davylamp in {{ $labels.env }}: a weekly report is due and was not built",
        description=(
            "The report is not in its folder, or does not hold, and the daemon could not mend "
            "that. Those of later weeks wait for it: each is chained to the one before."
        ),
        evidence=(REPORTS_MISSING.name, ("env",)),
    ),
    Alert(
        name="DavylampReportUntold",
        expr=f"max by (env) ({last_said(REPORTS_UNTOLD.name)}) > 0",
        wait="1h",
        severity="warning",
        summary="Davylamp in {{ $labels.env }}: nobody was told of a weekly report",
        description=(
            "The report was built. Its webhook does not answer, and is tried again every ten "
            "minutes; or it refused, and is not; or the report has no JSON to tell of."
        ),
        evidence=(REPORTS_UNTOLD.name, ("env",)),
    ),
)
