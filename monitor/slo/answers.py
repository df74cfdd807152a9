"""Alerts on what targets answer: latched alarms of streams, open findings, spent error budgets.

The class of an alarm follows its lane. ``tolerated`` and ``judge`` are WRONG, the lanes that say
only that outputs moved are DRIFT. ``hard`` holds every class that no healthy engine shows; its
alarms have the mildest of them, CONTRACT, so that an open LEAK, which silences WRONG and DRIFT,
never silences them. Which class it is the finding says.
"""

from __future__ import annotations

from dataclasses import dataclass

from monitor.conventions import EXCHANGES, FINDINGS_OPEN
from monitor.conventions.pages import Route, Severity, words_of
from monitor.conventions.streams import ALARM_ACTIVE, SLO_EVIDENCE, AlarmTier
from monitor.model import Lane, VerdictClass
from monitor.slo.alert import Alert
from monitor.slo.objective_rules import KNOWN, REMAINING
from monitor.slo.promql import equals, last_said, one_of, selector
from monitor.slo.windows import FAST, SLOW

_STREAM = ("env", "target", "probe", "stratum", "lane")
# What the objective over wrong answers is called; tiers of one objective silence each other.
_SEMANTIC = {"slo": "semantic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _LaneAlert:
    """An alert on the alarms of some lanes: in which tiers, and in which words."""

    name: str
    lanes: tuple[Lane, ...]
    verdict_class: VerdictClass
    words: str
    description: str
    tiers: tuple[AlarmTier, ...] = (AlarmTier.TICKET,)


_LANE_ALERTS = (
    _LaneAlert(
        name="DavylampHardFailures",
        lanes=(Lane.HARD,),
        verdict_class=VerdictClass.CONTRACT,
        tiers=(AlarmTier.PAGE, AlarmTier.TICKET),
        words="answers fail in ways no healthy engine shows",
        description=(
            "The evidence that hard failures come more often than the objective allows reached "
            "the threshold of this tier. The findings of the target name their class."
        ),
    ),
    _LaneAlert(
        name="DavylampWrongAnswers",
        lanes=(Lane.TOLERATED,),
        verdict_class=VerdictClass.WRONG,
        tiers=(AlarmTier.PAGE, AlarmTier.TICKET),
        words="more answers are wrong than its tolerance allows",
        description=(
            "The evidence that mistakes come more often than the target's tolerance, or its "
            "calibration, reached the threshold of this tier. One mistake never does."
        ),
    ),
    _LaneAlert(
        name="DavylampOutputsMoved",
        lanes=(Lane.FIRST_TOKEN, Lane.FACTS, Lane.TREND),
        verdict_class=VerdictClass.DRIFT,
        words="outputs are not what they were",
        description=(
            "Answers differ from those of before more often than they may. Another model, another "
            "version, other settings: the monitor does not know which, nor that it is worse."
        ),
    ),
    _LaneAlert(
        name="DavylampJudgeDisagrees",
        lanes=(Lane.JUDGE,),
        verdict_class=VerdictClass.WRONG,
        words="another model judges too many answers wrong",
        description=(
            "An opinion, not a proof. If the target is the judge itself, it contradicts the labels "
            "of its own items: then the judge has moved."
        ),
    ),
)


def stream_alerts() -> tuple[Alert, ...]:
    """Return the alerts on latched alarms: a page is critical, a ticket a warning."""
    return tuple(_stream_alert(each, tier) for each in _LANE_ALERTS for tier in each.tiers)


def _stream_alert(each: _LaneAlert, tier: AlarmTier) -> Alert:
    lane = one_of("lane", [lane.value for lane in each.lanes])
    page = tier is AlarmTier.PAGE
    burn = FAST.name if page else SLOW.name
    tiers = {"burn_tier": burn, **_SEMANTIC} if len(each.tiers) > 1 else {}
    return Alert(
        name=each.name,
        expr=(
            f"max by ({', '.join(_STREAM)}) (\n"
            f"  {last_said(selector(ALARM_ACTIVE.name, lane, equals('tier', tier.value)))}\n"
            ") == 1"
        ),
        severity="critical" if page else "warning",
        verdict_class=each.verdict_class.label,
        labels=tiers,
        summary=f"{{{{ $labels.target }}}}: {each.words} ({tier.value})",
        description=(
            f"{each.description} Stream: lane {{{{ $labels.lane }}}}, probe "
            "{{ or $labels.probe `any` }}, stratum {{ or $labels.stratum `any` }}."
        ),
        evidence=(SLO_EVIDENCE.name, _STREAM),
    )


def finding_alerts() -> tuple[Alert, ...]:
    """Return the alerts on open findings.

    Those of the route ``direct`` are paged by the daemon itself; here they only silence others.
    """
    return (
        _finding_alert(Severity.CRITICAL),
        _finding_alert(Severity.WARNING),
        Alert(
            name="DavylampFindingPagedDirectly",
            expr=_open_findings(equals("route", Route.DIRECT), by="env, target, class"),
            severity="info",
            verdict_class="",
            labels={"route": "direct"},
            summary="{{ $labels.target }}: {{ $labels.class }} is open; to page it is the daemon's",
            description=(
                "For nobody: the daemon tells of it by itself, and whether it could is said by "
                "DavylampPagesWait and DavylampPagesRejected. While it fires, an open LEAK "
                "silences WRONG and DRIFT of the same target."
            ),
            evidence=(FINDINGS_OPEN.name, ("env", "target", "class")),
        ),
    )


def _open_findings(*matchers: str, by: str) -> str:
    said = last_said(selector(FINDINGS_OPEN.name, *matchers))
    # One that moved to another instance is counted once.
    return f"sum by ({by}) (\n  max by ({by}, state, severity, route) ({said})\n) > 0"


def _finding_alert(severity: Severity) -> Alert:
    chosen = (equals("route", Route.ALERTMANAGER), equals("severity", severity))
    return Alert(
        name="DavylampFinding",
        expr=_open_findings(*chosen, by="env, target, class"),
        severity=severity.value,
        verdict_class="",
        summary=(
            f"{{{{ $labels.target }}}}: {_plain_words(severity)} "
            "({{ $labels.class }}); {{ $value | printf `%.0f` }} open"
        ),
        description=(
            "A fault of what the target answers is open: neither resolved nor dismissed. "
            "`davylamp findings list --target {{ $labels.target }}` names it."
        ),
        evidence=(FINDINGS_OPEN.name, ("env", "target", "class")),
    )


def _plain_words(severity: Severity) -> str:
    """Return a template that says what the class of a finding means; only WRONG_INPUT varies."""
    urgent = severity is Severity.CRITICAL
    asking = [each for each in reversed(VerdictClass) if each > VerdictClass.WRONG]
    cases = (
        f"if eq $labels.class `{each.label}` }}}}{words_of(each, urgent=urgent)}{{{{ "
        for each in asking
    )
    return f"{{{{ {'else '.join(cases)}else }}}}answers are wrong{{{{ end }}}}"


def objective_alerts() -> tuple[Alert, ...]:
    """Return the alerts that hold for every objective."""
    return (
        Alert(
            name="DavylampErrorBudgetSpent",
            expr=f"{REMAINING} <= 0",
            wait="1h",
            severity="warning",
            summary="{{ $labels.target }}: the error budget of {{ $labels.slo }} is spent",
            description=(
                "More was bad over the objective's window than it leaves room for: "
                "{{ $value | humanizePercentage }} of the budget is left."
            ),
            evidence=(REMAINING, ("env", "target", "slo")),
        ),
        Alert(
            name="DavylampObjectiveUnknown",
            # A target that cannot stream has no first tokens.
            expr=f'{KNOWN}{{slo!="first-token",probe=""}} == 0',
            wait="3d",
            severity="warning",
            summary="{{ $labels.target }}: too little is known to say how {{ $labels.slo }} stands",
            description=(
                "There are fewer valid events in the objective's window than it takes to say "
                "anything, or most of what was asked could not be judged. It is not green."
            ),
            evidence=("davylamp:slo_valid:count", ("env", "target", "slo")),
        ),
        Alert(
            name="DavylampCannotJudge",
            expr=(
                "sum by (env, target) (\n"
                f"  increase({selector(EXCHANGES.name, equals('outcome', 'invalid'))}[1h])\n"
                ") > 3"
            ),
            severity="warning",
            summary=(
                "{{ $labels.target }}: {{ $value | printf `%.0f` }} answers of an hour could not "
                "be judged"
            ),
            description=(
                "The fault is the monitor's: a check or probe crashed, a judge is down, a prompt "
                "is broken. Such answers count neither as good nor as bad."
            ),
            evidence=(EXCHANGES.name, ("env", "target")),
        ),
    )
