"""Semantic SLO overview: what status codes say and what the answers say, on one time axis."""

from __future__ import annotations

from dashboards.frame import (
    AGE,
    ALARMED,
    BY_CODE,
    BY_OUTCOME,
    CLASSES,
    CLICKHOUSE_SOURCE,
    COVERED,
    ENV,
    GOOD_RATIO,
    MARKS,
    OVERVIEW,
    PROMETHEUS_SOURCE,
    TARGETS,
    TO_TARGET,
    elsewhere,
    title_of,
)
from dashboards.panels import (
    GREEN,
    GREY,
    HATCH,
    RED,
    YELLOW,
    Look,
    Page,
    Said,
    Shelf,
    link,
    named,
    now,
    of_query,
    prometheus,
    rows_of,
    stat,
    state_timeline,
    table,
    time_series,
    values,
)
from dashboards.questions import (
    NO_PROBE,
    alarmed,
    coverage,
    good_ratio,
    judged,
    long_age,
    of,
    recorded,
    while_reporting,
    worst_class,
)
from dashboards.users import USERS
from monitor.conventions import (
    CONTEXT_ADVERTISED,
    CONTEXT_VERIFIED,
    CONTEXT_VERIFIED_TIME,
    EXCHANGES,
    FINDINGS_OPEN,
    HTTP_RESPONSES,
    VERDICTS,
)
from monitor.conventions.streams import ALARM_ACTIVE, SLO_EVIDENCE, SLO_EVIDENCE_THRESHOLD
from monitor.slo import Links
from monitor.slo.objective_rules import KNOWN, REMAINING

_NOT_ASKED = (
    "Nothing was judged: no answer was asked for, or none could be judged. This is not good."
)
# A share of fewer answers says little: none of a hundred bad is still up to 3 % at 95 %.
_FEW = 100
_BY_STREAM = "env, target, probe, stratum, lane"
_WEEK_SECONDS = 604_800
_VERIFIED_AT = f"max by (target) ({of(CONTEXT_VERIFIED_TIME)})"
_A_WEEK_AGO = f"time() - {_WEEK_SECONDS}"
answers = (
    time_series(
        Said(
            "Answers good, and of how many",
            "percentunit",
            (
                "The share of the scheduled answers of an hour that were good, of those "
                "that could be judged (lines, left), and how many that were (bars, "
                "right). A gap is an hour in which nothing could be judged. Errors and "
                "invalid answers are in neither."
            ),
            _NOT_ASKED,
        ),
        [
            prometheus(good_ratio("target"), "{{target}}"),
            prometheus(judged("target"), "n {{target}}"),
        ],
        Look(
            low=0,
            overrides=(
                of_query(
                    "B",
                    unit="short",
                    custom__axisPlacement="right",
                    custom__drawStyle="bars",
                    custom__fillOpacity=15,
                    custom__lineWidth=0,
                    color={"mode": "fixed", "fixedColor": GREY},
                ),
            ),
        ),
    ),
    time_series(
        Said(
            "Error budget left",
            "percentunit",
            (
                "What is left of the error budget of each objective over its window; 1 "
                "is untouched, below 0 is overspent, and at -1 by as much again or more. No line "
                "while too little is known (grey below)."
            ),
            ("No objective is known yet: too few answers could be judged. This is not good."),
        ),
        [
            prometheus(
                f"clamp_min(max by (target, slo) ({recorded(REMAINING, NO_PROBE)}), -1)",
                "{{target}} {{slo}}",
            )
        ],
        Look(steps=((None, RED), (0, GREEN)), low=-1, high=1, lines=True),
    ),
    state_timeline(
        Said(
            "Is the objective known?",
            "none",
            ("Whether enough could be judged to say anything of an objective. Grey is unknown."),
            ("No objective is recorded: load alerts/rules/slos.rules.yml into Prometheus."),
        ),
        [prometheus(f"min by (target, slo) ({recorded(KNOWN)})", "{{target}} {{slo}}")],
        Look(
            mappings=(values({0: (f"{HATCH} unknown", GREY), 1: ("known", GREEN)}),), palette=False
        ),
    ),
)
_worst_class_of_the_last_hour = state_timeline(
    Said(
        "Worst class of the last hour",
        "none",
        (
            "The worst that any verdict of the hour before said of each target. "
            "Green: answers were judged, and nothing was wrong. Grey and hatched: "
            "nobody asked, or nothing could be judged."
        ),
        "No monitor reports: its series are missing. This is not good.",
    ),
    [prometheus(worst_class(VERDICTS), "{{target}}")],
    CLASSES,
)
_evidence_against_its_threshold = time_series(
    Said(
        "Evidence against its threshold",
        "percentunit",
        (
            "How far the evidence of each lane is on its way to an alarm, of the "
            "stream that is nearest, by powers of ten; at 100 % the alarm is raised. One mistake "
            "never gets there."
        ),
        "No stream is watched: the daemon does not run, or nothing was scored.",
    ),
    [
        prometheus(
            (
                f"clamp_min(max by (target, lane, tier) ({of(SLO_EVIDENCE)} / on ({_BY_STREAM}) "
                f"group_right () {of(SLO_EVIDENCE_THRESHOLD)}), 0.0001)"
            ),
            "{{target}} {{lane}} {{tier}}",
        )
    ],
    Look(steps=((None, GREEN), (1, RED)), lines=True, logarithmic=True),
)
_open_findings = table(
    Said(
        "Open findings",
        "short",
        (
            "Findings that are neither resolved nor dismissed. `davylamp findings "
            "list` names them; Target detail shows their trials, Leak investigation those of leaks."
        ),
        (
            "No finding is open, or no monitor reports. Whether anything was asked is what the "
            "strips say."
        ),
    ),
    [rows_of(f"sum by (env, target, class, state, severity, route) ({of(FINDINGS_OPEN)}) > 0")],
    Look(
        value="open",
        overrides=(
            named("target", links=[link("Target detail", TO_TARGET)]),
            named("class", links=[link("What to do", Links().runbook("DavylampFinding"))]),
        ),
    ),
)
_alarms_of_streams = state_timeline(
    Said(
        "Alarms of streams",
        "none",
        (
            "Whether an alarm of a lane is not over: a page, or a ticket. Grey and hatched: "
            "nothing of the target was judged within a day, so nothing could raise one."
        ),
        "No stream can raise an alarm: nothing is watched. This is not good.",
    ),
    [
        prometheus(
            alarmed(ALARM_ACTIVE, "target, lane, tier", across="target"),
            "{{target}} {{lane}} {{tier}}",
        )
    ],
    ALARMED,
)
_what_exchanges_came_to = time_series(
    Said(
        "What exchanges came to",
        "short",
        "Scheduled exchanges of an hour by outcome: errors and invalid ones too.",
        _NOT_ASKED,
    ),
    [prometheus(f"sum by (outcome) (increase({of(EXCHANGES)}[1h]))", "{{outcome}}")],
    Look(stacked=True, bars=True, low=0, overrides=BY_OUTCOME),
)
_coverage_by_probe_and_stratum = state_timeline(
    Said(
        "Coverage by probe and stratum",
        "none",
        (
            "Whether each stratum was judged within a day. Grey and hatched was "
            "never judged, or is left out: what happens there is not known."
        ),
        "No stratum is planned, or the monitor does not report.",
    ),
    [prometheus(coverage(), "{{target}} {{probe}} {{stratum}}")],
    COVERED,
)
_age_of_the_last_long_verdict = stat(
    Said(
        "Age of the last long verdict",
        "s",
        "For how long no answer to a long prompt could be judged.",
        "No target is probed.",
    ),
    [now(long_age(), "{{target}}")],
    AGE,
)
_good_answers_of_a_day = stat(
    Said(
        "Good answers of a day",
        "percentunit",
        (
            f"The good share of the judged answers of the last 24 hours, and how many they were. "
            f"Below {_FEW} judged there is no share."
        ),
        f"Fewer than {_FEW} answers were judged: too few for a share. This is not good.",
    ),
    [
        now(good_ratio("target", window="1d", least=_FEW), "{{target}}"),
        now(while_reporting(judged("target", "1d")), "{{target}} judged"),
    ],
    GOOD_RATIO,
)
_context_verified_of_what_is_advertised = stat(
    Said(
        "Context verified of what is advertised",
        "percentunit",
        (
            "Up to which part of the context a target states its prompts were shown "
            "to be read whole, by the last `davylamp context verify` that could tell. What is "
            "older than a week says nothing of today, and is grey."
        ),
        "No target states a context.",
    ),
    [
        now(
            (
                f"max by (target) ({of(CONTEXT_VERIFIED)}) / on (target) max by (target) ("
                f"{of(CONTEXT_ADVERTISED)}) and on (target) {_VERIFIED_AT} > {_A_WEEK_AGO} "
                f"or on (target) 0 * ({_VERIFIED_AT} <= {_A_WEEK_AGO}) - 2 "
                f"or on (target) 0 * max by (target) ({of(CONTEXT_ADVERTISED)}) - 1"
            ),
            "{{target}}",
        )
    ],
    Look(
        steps=((None, RED), (0.5, YELLOW), (0.95, GREEN)),
        mappings=(
            values(
                {
                    -2: (f"{HATCH} verified over a week ago", GREY),
                    -1: (f"{HATCH} never verified", GREY),
                }
            ),
        ),
    ),
)
_context_verified_against_advertised = time_series(
    Said(
        "Context: verified against advertised",
        "locale",
        ("Tokens: what each target states, by who states it, and what was verified."),
        "No target states a context, and none was verified.",
    ),
    [
        prometheus(f"max by (target) ({of(CONTEXT_VERIFIED)})", "{{target}} verified"),
        prometheus(
            f"max by (target, source) ({of(CONTEXT_ADVERTISED)})",
            "{{target}} advertised by {{source}}",
        ),
    ],
    Look(stairs=True, low=0),
)
_probes_status_codes = time_series(
    Said(
        "Probes: status codes",
        "short",
        "HTTP status codes that probes saw in an hour: what an uptime check sees.",
        "No exchange took place within an hour.",
    ),
    [prometheus(f"sum by (code) (increase({of(HTTP_RESPONSES)}[1h]))", "{{code}}")],
    Look(stacked=True, bars=True, low=0, overrides=BY_CODE),
)
page = Page(
    uid=OVERVIEW,
    title=title_of(OVERVIEW),
    about=(
        "200 OK but wrong in one glance: users on the left, answers on the right, one time axis."
    ),
    variables=(PROMETHEUS_SOURCE, CLICKHOUSE_SOURCE, ENV, TARGETS),
    annotations=MARKS,
    links=elsewhere(OVERVIEW),
    tags=("slo",),
    shelves=(
        Shelf(
            title="What status codes say (left), what the answers say (right)",
            panels=tuple(
                (12, 8, panel) for pair in zip(USERS, answers, strict=True) for panel in pair
            ),
        ),
        Shelf(
            title="What is wrong",
            panels=(
                (24, 6, _worst_class_of_the_last_hour),
                (12, 8, _evidence_against_its_threshold),
                (12, 8, _open_findings),
                (12, 8, _alarms_of_streams),
                (12, 8, _what_exchanges_came_to),
            ),
        ),
        Shelf(
            title="What nobody looked at",
            panels=(
                (24, 15, _coverage_by_probe_and_stratum),
                (8, 5, _age_of_the_last_long_verdict),
                (8, 5, _good_answers_of_a_day),
                (8, 5, _context_verified_of_what_is_advertised),
                (12, 7, _context_verified_against_advertised),
                (12, 7, _probes_status_codes),
            ),
        ),
    ),
)
