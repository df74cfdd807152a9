"""Leak investigation: a trial's exchanges, tenants and markers, mostly from the store."""

from __future__ import annotations

from dashboards.frame import (
    BY_CLASS,
    CLICKHOUSE_SOURCE,
    ENV,
    LEAK,
    MARKS,
    PROMETHEUS_SOURCE,
    TARGETS,
    TRIAL_LINK,
    elsewhere,
    title_of,
)
from dashboards.panels import (
    GREEN,
    GREY,
    HATCH,
    PURPLE,
    Look,
    Page,
    Said,
    Shelf,
    clickhouse,
    prometheus,
    state_timeline,
    table,
    text,
    time_series,
    typed,
    values,
)
from dashboards.questions import alarmed, asked_by_name, rise, stated
from monitor.conventions import FINDINGS_OPEN, VERDICTS

_UNREACHED = "no row, or Grafana cannot reach the store (docs/sql.md)"
_NO_TRIAL = f"Choose a trial above, or follow one from the list of findings: {_UNREACHED}."
_LINKED = Look(overrides=(TRIAL_LINK,))
_LEAKS = 'class=~"LEAK|CROSSED"'
_open_leaks = state_timeline(
    Said(
        "Open leaks",
        "none",
        (
            "Whether a finding of class LEAK or CROSSED is open. From Prometheus: always there. "
            "Grey and hatched: none is, and nothing was judged within a day that could show one."
        ),
        "The monitor does not report findings. This is not good.",
    ),
    [
        prometheus(
            alarmed(FINDINGS_OPEN, "target, class", _LEAKS, across="target"),
            "{{target}} {{class}}",
        )
    ],
    Look(
        mappings=(
            values(
                {
                    -1: (f"{HATCH} nothing judged", GREY),
                    0: ("none open", GREEN),
                    1: ("open", PURPLE),
                }
            ),
        ),
        palette=False,
    ),
)
_verdicts_of_leak_and_crossed = time_series(
    Said(
        "Verdicts of LEAK and CROSSED",
        "short",
        "Of an hour, of every source.",
        "The monitor does not report verdicts. This is not good.",
    ),
    [
        prometheus(
            rise(VERDICTS, 'class=~"LEAK|CROSSED"', by="target, class"), "{{target}} {{class}}"
        )
    ],
    Look(bars=True, stacked=True, low=0, overrides=BY_CLASS),
)
_findings_of_leaks = table(
    Said(
        "Findings of leaks",
        "none",
        (
            "Seen in this time range, or open since before it. A finding's trials: "
            "`davylamp findings show ID`."
        ),
        f"No leak was seen in this time range, and none is open: {_UNREACHED}.",
    ),
    [
        clickhouse(
            stated(
                "SELECT id AS finding, target, class, state, first_seen, last_seen, "
                "count, reproduced, trials[1] AS trial FROM findings FINAL WHERE "
                "$stood AND class IN ('LEAK', 'CROSSED') AND $targets "
                "ORDER BY first_seen DESC LIMIT 100"
            ),
        )
    ],
    _LINKED,
)
_whose_text_how_often_with_how_much_evidence = table(
    Said(
        "Whose text, how often, with how much evidence",
        "short",
        "Owners of registered strings that were seen in answers to others.",
        f"Nobody's text was seen in answers to others: {_UNREACHED}.",
    ),
    [clickhouse(asked_by_name("leaks_by_owner"))],
)
_what_this_shows = text(
    "What this shows",
    "How the tables below are read.",
    (
        "Numbers, codes and keyed hashes only: the store holds no text in clear. "
        "`davylamp explain TRIAL` says in words what was judged; `davylamp findings "
        "verify FINDING` asks again; `davylamp evidence export FINDING --out FILE` shows "
        "it to others. Each table is of the trial that is typed above or came with a link."
    ),
)
_verdict = table(
    Said(
        "Verdict",
        "none",
        "What was decided of the trial, by which version of the checks.",
        _NO_TRIAL,
    ),
    [
        clickhouse(
            stated(
                "SELECT decided_at, source, target, model, probe, shape, stratum, "
                "outcome, class, reason, finding, checks_version, markers FROM verdicts "
                "FINAL WHERE trial = $trial ORDER BY decided_at"
            ),
        )
    ],
)
_exchanges_and_whose_they_were = table(
    Said(
        "Exchanges, and whose they were",
        "none",
        ("Each exchange of the trial: tenant, part, timing, tokens, ids of both sides."),
        _NO_TRIAL,
    ),
    [clickhouse(asked_by_name("trial_exchanges"))],
)
_signals_that_say_something = table(
    Said(
        "Signals that say something",
        "none",
        ("What checks said of each exchange, with evidence and owner; quiet ones are left out."),
        _NO_TRIAL,
    ),
    [
        clickhouse(
            stated(
                "SELECT exchange, code, variant, status, evidence_bits, owner_target, "
                "owner_tenant, owner_trial, explanation FROM signals FINAL "
                "WHERE trial = $trial ORDER BY exchange, position"
            ),
        )
    ],
    _LINKED,
)
_markers_the_trial_minted = table(
    Said(
        "Markers the trial minted",
        "none",
        ("Who owns each, when it was minted and until when its text is kept sealed."),
        _NO_TRIAL,
    ),
    [
        clickhouse(
            stated(
                "SELECT id AS marker, kind, tenant, isolation, exchange, epoch, "
                "minted_at, expires_at, length(part_hashes) AS parts, sealed != '' AS "
                "text_is_kept FROM markers FINAL WHERE trial = $trial ORDER BY exchange, "
                "minted_at"
            ),
        )
    ],
)
_where_this_trial_s_markers_were_seen_since = table(
    Said(
        "Where this trial's markers were seen since",
        "none",
        ("Trials in whose answers a marker of this trial turned up: the other side of a leak."),
        f"This trial's markers were seen nowhere else: {_UNREACHED}.",
    ),
    [
        clickhouse(
            stated(
                "SELECT decided_at, trial, target, exchange, code, variant, "
                "evidence_bits, marker FROM signals FINAL WHERE owner_trial = $trial "
                "AND status = 'fail' AND trial != $trial "
                "ORDER BY decided_at LIMIT 200"
            ),
        )
    ],
    _LINKED,
)
page = Page(
    uid=LEAK,
    title=title_of(LEAK),
    about=(
        "Whose text was seen by whom, and what is known of the trial that shows "
        "it. No text is kept."
    ),
    variables=(PROMETHEUS_SOURCE, CLICKHOUSE_SOURCE, ENV, TARGETS, typed("trial", "Trial")),
    annotations=MARKS,
    links=elsewhere(LEAK),
    since="now-7d",
    tags=("leak",),
    shelves=(
        Shelf(
            title="Is there a leak?",
            panels=(
                (12, 6, _open_leaks),
                (12, 6, _verdicts_of_leak_and_crossed),
                (24, 8, _findings_of_leaks),
                (24, 7, _whose_text_how_often_with_how_much_evidence),
            ),
        ),
        Shelf(
            title="Trial ${trial}",
            panels=(
                (24, 4, _what_this_shows),
                (24, 7, _verdict),
                (24, 8, _exchanges_and_whose_they_were),
                (12, 8, _signals_that_say_something),
                (12, 8, _markers_the_trial_minted),
                (24, 8, _where_this_trial_s_markers_were_seen_since),
            ),
        ),
    ),
)
