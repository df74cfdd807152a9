"""Probe economy: what looking costs, whether it happens when it should, what it is worth."""

from __future__ import annotations

from dashboards.frame import (
    BY_OUTCOME,
    CLICKHOUSE_SOURCE,
    ECONOMY,
    ENV,
    MARKS,
    PROMETHEUS_SOURCE,
    TARGETS,
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
    clickhouse,
    now,
    prometheus,
    rows_of,
    stat,
    state_timeline,
    table,
    time_series,
    values,
)
from dashboards.questions import asked_by_name, of, rise, stated
from monitor.conventions import (
    BUDGET_EXHAUSTED,
    BUDGET_REMAINING,
    COST,
    EXCHANGES,
    MISSED_RUNS,
    NOT_PROBED,
    SCHEDULE_INTERVAL,
    SCHEDULE_LAG,
    SIGNALS,
    SKIPPED_RUNS,
    TOKENS,
)

_JUDGED, _UNJUDGED = 'outcome=~"good|bad"', 'outcome=~"error|invalid"'
_SILENT = "The monitor does not report: nothing is asked. This is not good."
_STORE = "The store has no row in this time range, or Grafana cannot reach it (docs/sql.md)."
_NO_PRICE = "No price is configured: state targets[].price to see dollars."

_tokens = time_series(
    Said(
        "Tokens an hour, by direction",
        "locale",
        "As targets report them; nothing where one reports nothing.",
        "No target reports tokens, or nothing was asked within an hour.",
    ),
    [prometheus(rise(TOKENS, by="target, direction"), "{{target}} {{direction}}")],
    Look(stacked=True, bars=True, low=0),
)
_by_probe = time_series(
    Said(
        "Tokens an hour, by probe",
        "locale",
        "Which probe spends them.",
        "No target reports tokens, or nothing was asked within an hour.",
    ),
    [prometheus(rise(TOKENS, by="probe"), "{{probe}}")],
    Look(stacked=True, bars=True, low=0),
)
_dollars = time_series(
    Said("Dollars a day", "currencyUSD", "Charged to the budgets in 24 hours.", _NO_PRICE),
    [prometheus(rise(COST, by="target", window="1d"), "{{target}}")],
    Look(low=0),
)
_price = stat(
    Said(
        "Dollars for a judged answer",
        "currencyUSD",
        "What a day cost, by how many answers could be judged.",
        _NO_PRICE,
    ),
    [
        now(
            f"{rise(COST, by='target', window='1d')} / on (target) "
            f"({rise(EXCHANGES, _JUDGED, by='target', window='1d')} > 0)",
            "{{target}}",
        )
    ],
    Look(decimals=4),
)
_left = time_series(
    Said(
        "Budget left today (UTC)",
        "percentunit",
        "The part that is neither spent nor reserved.",
        _SILENT,
    ),
    [prometheus(f"min by (target, budget) ({of(BUDGET_REMAINING)})", "{{target}} {{budget}}")],
    Look(low=0, high=1, steps=((None, RED), (0.1, GREEN)), lines=True),
)
_exhausted = state_timeline(
    Said(
        "Is a budget exhausted?",
        "none",
        "From a trial it could not pay until the day ends. What is not asked is grey elsewhere.",
        _SILENT,
    ),
    [prometheus(f"max by (target, budget) ({of(BUDGET_EXHAUSTED)})", "{{target}} {{budget}}")],
    Look(mappings=(values({0: ("pays", GREEN), 1: (f"{HATCH} exhausted", GREY)}),), palette=False),
)
_lag = time_series(
    Said(
        "Schedule lag",
        "s",
        "How much later than planned the last trial of each target began.",
        _SILENT,
    ),
    [prometheus(f"max by (target) ({of(SCHEDULE_LAG)})", "{{target}}")],
    Look(low=0),
)
_interval = time_series(
    Said(
        "Time between two trials",
        "s",
        "Of each probe, as its interval and the day's budget allow.",
        _SILENT,
    ),
    [prometheus(f"max by (target, probe) ({of(SCHEDULE_INTERVAL)})", "{{target}} {{probe}}")],
    Look(low=0, stairs=True),
)
_missed = time_series(
    Said("Runs missed, an hour", "short", "Too late, still busy, or lost in a stall.", _SILENT),
    [prometheus(rise(MISSED_RUNS, by="target, probe"), "{{target}} {{probe}}")],
    Look(stacked=True, bars=True, low=0),
)
_skipped = time_series(
    Said("Runs skipped, an hour", "short", "To do no harm, and why.", _SILENT),
    [prometheus(rise(SKIPPED_RUNS, by="target, reason"), "{{target}} {{reason}}")],
    Look(stacked=True, bars=True, low=0),
)
_left_out = table(
    Said(
        "Strata left out, by reason",
        "short",
        "How many are not looked at now.",
        "Nothing that is planned is left out, or no monitor reports.",
    ),
    [rows_of(f"count by (target, reason) ({of(NOT_PROBED)} == 1)")],
    Look(value="strata"),
)
_worth = time_series(
    Said(
        "What exchanges came to, an hour",
        "short",
        "Errors and invalid ones were paid for and say nothing of the answers.",
        "Nothing was asked within an hour. This is not good.",
    ),
    [prometheus(rise(EXCHANGES, by="outcome"), "{{outcome}}")],
    Look(stacked=True, bars=True, low=0, overrides=BY_OUTCOME),
)
_invalid = time_series(
    Said(
        "Share that could not be judged",
        "percentunit",
        "Of the scheduled exchanges of an hour: errors of the target, and what we could not judge.",
        "Nothing was asked within an hour. This is not good.",
    ),
    [
        prometheus(
            f"{rise(EXCHANGES, _UNJUDGED, by='target')} / ({rise(EXCHANGES, by='target')} > 0)",
            "{{target}}",
        )
    ],
    Look(low=0, high=1, steps=((None, GREEN), (0.1, YELLOW)), lines=True),
)
_judging = time_series(
    Said(
        "Checks that could judge, an hour",
        "short",
        "Signals by status; a check that only skips looks at nothing.",
        "No check said anything within an hour.",
    ),
    [prometheus(rise(SIGNALS, by="status"), "{{status}}")],
    Look(stacked=True, low=0),
)
_budget_days = table(
    Said(
        "What budgets spent a day",
        "short",
        "Tokens and dollars, and reservations that were never settled.",
        _STORE,
    ),
    [clickhouse(asked_by_name("budget"))],
)
_noisiest = table(
    Said(
        "Noisiest checks",
        "short",
        "Which checks failed most often, in which way, of how often they judged.",
        "No check failed in this time range, or Grafana cannot reach the store (docs/sql.md).",
    ),
    [clickhouse(asked_by_name("noisiest_checks"))],
)
_store_tokens = time_series(
    Said("Tokens by probe, from the store", "locale", "Sums by hour, for as long as kept.", _STORE),
    [
        clickhouse(
            stated(
                "SELECT at AS time, probe, sum(s.input_tokens) + sum(s.output_tokens) AS tokens "
                "FROM exchanges_hourly AS s WHERE at >= toStartOfHour($__fromTime) "
                "AND at < $__toTime AND $targets AND probe != 'traffic' "
                "GROUP BY time, probe ORDER BY time, probe"
            ),
            series=True,
        )
    ],
    Look(stacked=True, bars=True, low=0),
)

page = Page(
    uid=ECONOMY,
    title=title_of(ECONOMY),
    about="What looking costs, and whether it happens when it should.",
    variables=(PROMETHEUS_SOURCE, CLICKHOUSE_SOURCE, ENV, TARGETS),
    annotations=MARKS,
    links=elsewhere(ECONOMY),
    tags=("cost",),
    shelves=(
        Shelf(
            title="Tokens and money",
            panels=(
                *((12, 8, _tokens), (12, 8, _by_probe)),
                *((8, 7, _dollars), (4, 7, _price), (12, 7, _left), (24, 5, _exhausted)),
            ),
        ),
        Shelf(
            title="The schedule",
            panels=(
                *((12, 7, _lag), (12, 7, _interval)),
                *((8, 7, _missed), (8, 7, _skipped), (8, 7, _left_out)),
            ),
        ),
        Shelf(
            title="What it is worth",
            panels=((8, 7, _worth), (8, 7, _invalid), (8, 7, _judging)),
        ),
        Shelf(
            title="From the store",
            panels=((12, 8, _budget_days), (12, 8, _noisiest), (24, 8, _store_tokens)),
        ),
    ),
)
