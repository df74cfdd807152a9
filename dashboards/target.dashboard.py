"""Target detail: where alerts lead. One target, by probe, stratum, lane and check."""

from __future__ import annotations

from dashboards.frame import (
    BY_CLASS,
    BY_CODE,
    BY_OUTCOME,
    CLASSES,
    CLICKHOUSE_SOURCE,
    COVERED,
    ENV,
    FIRING,
    HERE,
    MARKS,
    PROMETHEUS_SOURCE,
    TARGET,
    elsewhere,
    firing,
    title_of,
)
from dashboards.panels import (
    GREEN,
    GREY,
    ORANGE,
    RED,
    YELLOW,
    Look,
    Page,
    Said,
    Shelf,
    choice,
    now,
    prometheus,
    rows_of,
    stat,
    state_timeline,
    table,
    time_series,
    values,
)
from dashboards.questions import (
    PATTERN,
    coverage,
    good_ratio,
    judged,
    of,
    quantile,
    recorded,
    rise,
    worst_class,
)
from dashboards.streams import STREAMS
from dashboards.trials import TRIALS
from monitor.conventions import (
    CALIBRATION,
    DURATION,
    EXCHANGES,
    FIRST_TOKEN,
    GOLDEN_QUARANTINED,
    HTTP_RESPONSES,
    JUDGE_AGREEMENT,
    JUDGE_TRUSTED,
    LAST_RUN,
    LAST_SUCCESS,
    NOT_PROBED,
    TARGET_CHANGES,
    VERDICTS,
)
from monitor.slo.objective_rules import COVERAGE, ERROR

_EMPTY = "Nothing of this target was judged within the hour. This is not good."
_VALID = 'state="valid"'
_SILENT = "The monitor does not report this target."
_WATCHDOG = 'alertname="DavylampWatchdog"'
_TARGET = choice(
    "target", "Target", f'label_values({LAST_RUN.name}{{env="$env"}}, target)', many=False
)
_alerts = state_timeline(
    Said(
        "Alerts of this target",
        "none",
        "What fires; each leads to its runbook. The Watchdog always does: without it none can.",
        (
            "No alert fires, not even the Watchdog: the rules are not loaded into this "
            "Prometheus, or no monitor reports. This is not good."
        ),
    ),
    [
        prometheus(
            f"max by (alertname, severity) ({firing(HERE, f'target=~`{PATTERN}`')}) "
            f"or 2 * max by (alertname, severity) ({firing(HERE, _WATCHDOG)})",
            "{{alertname}} {{severity}}",
        )
    ],
    FIRING,
)
_worst_class_of_the_last_hour = state_timeline(
    Said(
        "Worst class of the last hour",
        "none",
        ("Green: judged, nothing wrong. Grey and hatched: not asked, or not judged."),
        _SILENT,
    ),
    [prometheus(worst_class(VERDICTS), "{{target}}")],
    CLASSES,
)
_answers_good_by_probe = time_series(
    Said(
        "Answers good, by probe",
        "percentunit",
        "The good share of the scheduled answers of an hour that could be judged.",
        _EMPTY,
    ),
    [prometheus(good_ratio("probe"), "{{probe}}")],
    Look(low=0, high=1),
)
_judged_answers_by_probe = time_series(
    Said(
        "Judged answers, by probe",
        "short",
        "How many answers of an hour could be judged: what a share is worth.",
        _EMPTY,
    ),
    [prometheus(judged("probe"), "{{probe}}")],
    Look(stacked=True, bars=True, low=0),
)
_outcomes_and_classes = time_series(
    Said(
        "Outcomes and classes",
        "short",
        "Scheduled exchanges of an hour that were not simply good.",
        _EMPTY,
    ),
    [prometheus(rise(EXCHANGES, 'class!="none"', by="outcome, class"), "{{outcome}} {{class}}")],
    Look(stacked=True, bars=True, low=0, overrides=(*BY_OUTCOME, *BY_CLASS)),
)
_error_share_of_its_objectives = time_series(
    Said(
        "Error share of its objectives",
        "percentunit",
        "Bad of valid over each objective's window; no line while it is unknown.",
        "No objective of this target is known: too little could be judged.",
    ),
    [prometheus(f"max by (slo, probe) ({recorded(ERROR)})", "{{slo}} {{probe}}")],
    Look(low=0),
)
_coverage = state_timeline(
    Said(
        "Coverage",
        "none",
        ("Grey and hatched was never judged, or is left out: nothing is known of it."),
        "No stratum of this target is planned.",
    ),
    [prometheus(coverage(), "{{probe}} {{stratum}}")],
    COVERED,
)
_left_out_and_why = table(
    Said(
        "Left out, and why",
        "none",
        "Strata that are not looked at now.",
        "Nothing that is planned is left out, or no monitor reports.",
    ),
    [rows_of(f"max by (probe, stratum, reason) ({of(NOT_PROBED)}) == 1")],
    Look(value=""),
)
_longest_without_a_judged_answer = table(
    Said(
        "Longest without a judged answer",
        "s",
        "Strata that were once judged, by the time since then.",
        "No stratum of this target was ever judged. This is not good.",
    ),
    [rows_of(f"topk(20, clamp_min(time() - max by (probe, stratum) ({of(LAST_SUCCESS)} > 0), 0))")],
    Look(value="since then"),
)
_prompt_sizes_looked_at = stat(
    Said(
        "Prompt sizes looked at",
        "percentunit",
        "The share of its prompt sizes of which an answer was judged in 7 days.",
        "Not recorded: load alerts/rules/slos.rules.yml into Prometheus.",
    ),
    [now(recorded(COVERAGE), "{{target}}")],
    Look(steps=((None, RED), (0.5, YELLOW), (1, GREEN))),
)
_calibration = state_timeline(
    Said("Calibration", "none", "How its calibration stands; only a valid one is used.", _SILENT),
    [
        prometheus(
            f"max by (state) ({of(CALIBRATION, _VALID)}) or 2 * max by (state) ({of(CALIBRATION)})",
            "{{state}}",
        )
    ],
    Look(
        mappings=(values({0: ("no", GREY), 1: ("holds", GREEN), 2: ("holds", ORANGE)}),),
        palette=False,
    ),
)
_golden_prompts_set_aside = stat(
    Said(
        "Golden prompts set aside",
        "short",
        "What a healthy target missed when it was calibrated.",
        "The target is not calibrated.",
    ),
    [now(f"max by (target) ({of(GOLDEN_QUARANTINED)})", "{{target}}")],
    Look(steps=((None, GREY), (1, YELLOW))),
)
_is_its_word_as_a_judge_trusted = stat(
    Said(
        "Is its word as a judge trusted?",
        "none",
        "Whether it agrees with enough of its own labelled items.",
        "This target judges no other, or has judged nothing yet.",
    ),
    [now(f"min by (target) ({of(JUDGE_TRUSTED)})", "{{target}}")],
    Look(mappings=(values({0: ("not trusted", RED), 1: ("trusted", GREEN)}),)),
)
_what_it_said_as_a_judge = time_series(
    Said(
        "What it said as a judge",
        "short",
        "Of its own labelled items, by what is true of them, in a day.",
        "This target judges no other, or has judged nothing yet.",
    ),
    [
        prometheus(
            rise(JUDGE_AGREEMENT, by="truth, said", window="1d"), "is {{truth}}, said {{said}}"
        )
    ],
    Look(bars=True, low=0),
)
_changes = time_series(
    Said(
        "Changes",
        "short",
        ("Deploys that somebody told of, and changes that were noticed, of an hour."),
        _SILENT,
    ),
    [prometheus(rise(TARGET_CHANGES, by="kind"), "{{kind}}")],
    Look(bars=True, low=0),
)
_status_codes = time_series(
    Said(
        "Status codes",
        "short",
        "Of the exchanges of an hour, by the part the tenant played.",
        "No exchange within an hour.",
    ),
    [prometheus(rise(HTTP_RESPONSES, by="code, part"), "{{code}} {{part}}")],
    Look(stacked=True, bars=True, low=0, overrides=BY_CODE),
)
_duration_of_answers = time_series(
    Said(
        "Duration of answers",
        "s",
        "Half of the answers of an hour, and 95 in 100, by shape.",
        "No exchange within an hour.",
    ),
    [
        prometheus(quantile(0.5, DURATION, by="shape"), "{{shape}} p50"),
        prometheus(quantile(0.95, DURATION, by="shape"), "{{shape}} p95"),
    ],
    Look(low=0),
)
_time_to_the_first_token = time_series(
    Said(
        "Time to the first token",
        "s",
        "Of streamed answers of an hour: half of them, and 95 in 100.",
        "No streamed answer within an hour.",
    ),
    [
        prometheus(quantile(0.5, FIRST_TOKEN, by="shape"), "{{shape}} p50"),
        prometheus(quantile(0.95, FIRST_TOKEN, by="shape"), "{{shape}} p95"),
    ],
    Look(low=0),
)
page = Page(
    uid=TARGET,
    title=title_of(TARGET),
    about=("One target: what its answers came to, which streams moved, and what nobody looked at."),
    variables=(PROMETHEUS_SOURCE, CLICKHOUSE_SOURCE, ENV, _TARGET),
    annotations=MARKS,
    links=elsewhere(TARGET),
    tags=("target",),
    shelves=(
        Shelf(
            title="How it stands",
            panels=(
                (12, 8, _worst_class_of_the_last_hour),
                (12, 8, _alerts),
                (12, 8, _answers_good_by_probe),
                (12, 8, _judged_answers_by_probe),
                (12, 7, _outcomes_and_classes),
                (12, 7, _error_share_of_its_objectives),
            ),
        ),
        STREAMS,
        Shelf(
            title="Coverage, calibration, judge",
            panels=(
                (24, 12, _coverage),
                (12, 7, _left_out_and_why),
                (12, 7, _longest_without_a_judged_answer),
                (6, 6, _prompt_sizes_looked_at),
                (6, 6, _calibration),
                (6, 6, _golden_prompts_set_aside),
                (6, 6, _is_its_word_as_a_judge_trusted),
                (12, 6, _what_it_said_as_a_judge),
                (12, 6, _changes),
            ),
        ),
        Shelf(
            title="What an uptime check sees of it",
            panels=(
                (8, 7, _status_codes),
                (8, 7, _duration_of_answers),
                (8, 7, _time_to_the_first_token),
            ),
        ),
        TRIALS,
    ),
)
