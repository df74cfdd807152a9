"""The monitor itself: whether it runs, sees, keeps and tells."""

from __future__ import annotations

from dashboards.frame import (
    CLICKHOUSE_SOURCE,
    ENV,
    FIRING,
    HERE,
    MONITOR,
    NOWHERE,
    OWN_MARKS,
    PROMETHEUS_SOURCE,
    elsewhere,
    firing,
    title_of,
)
from dashboards.panels import (
    GREEN,
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
)
from dashboards.questions import of, rise
from monitor import conventions as own
from monitor.conventions import pages, reports, streams, telemetry

_SILENT = "No monitor reports in this environment. Nothing is watched: this is not good."
_NONE_YET = "Nothing of this was counted since the monitor started."


def _firing(watchdog: str) -> str:
    """Return the alerts that fire: with ``!=`` those that somebody must see to.

    Of an environment that is gone they do not know the name.
    """
    but = f'alertname{watchdog}"DavylampWatchdog"'
    return f"{firing(but, HERE)} or {firing(but, NOWHERE)}"


_version = table(
    Said(
        "Version and configuration",
        "none",
        "Which version runs, under which configuration.",
        _SILENT,
    ),
    [
        rows_of(
            f"max by (env, version) ({of(own.BUILD_INFO)}) * on (env) group_left (sha256) "
            f"max by (env, sha256) ({of(own.CONFIG_HASH_INFO)}) == 1"
        )
    ],
    Look(value=""),
)
_since = stat(
    Said("Running for", "s", "Since the process began.", _SILENT),
    [now(f"time() - max by (env) ({of(own.START_TIME)})", "{{env}}")],
)
_tested = stat(
    Said(
        "Checks last tried",
        "s",
        "How long ago every check was last given what it must find.",
        "The checks were not tried yet, or no monitor reports.",
    ),
    [now(f"time() - max by (env) ({of(own.SELF_TEST_TIME)} > 0)", "{{env}}")],
    Look(steps=((None, GREEN), (2 * 86_400, YELLOW), (7 * 86_400, RED))),
)
_blind = stat(
    Said(
        "Blind checks",
        "short",
        "Checks that misjudge what they are given with the right answer known.",
        _SILENT,
    ),
    [now(f"sum by (env) ({of(own.CHECK_BLIND)})", "{{env}}")],
    Look(steps=((None, GREEN), (1, RED))),
)
_links = time_series(
    Said(
        "Links of the audit chain",
        "short",
        "It only grows; a fall says its end was cut off.",
        _SILENT,
    ),
    [prometheus(f"max by (env) ({of(own.AUDIT_LINKS)})", "{{env}}")],
    Look(stairs=True),
)
_alerts = state_timeline(
    Said(
        "Alerts of Davylamp",
        "none",
        "What fires, in this environment. The Watchdog always does.",
        (
            "No alert fires, not even the Watchdog: the rules are not loaded, or no monitor "
            "reports. This is not good."
        ),
    ),
    [
        prometheus(
            f"max by (alertname, target) ({_firing('!=')}) "
            f"or 2 * max by (alertname, target) ({_firing('=')})",
            "{{alertname}} {{target}}",
        )
    ],
    FIRING,
)
_queue = time_series(
    Said("Rows that wait", "short", "In the spool, on their way to the store.", _SILENT),
    [prometheus(f"max by (env) ({of(own.WRITER_QUEUE)})", "{{env}}")],
    Look(low=0),
)
_spool = time_series(
    Said("The spool on disk", "bytes", "What it holds, and the most it may hold.", _SILENT),
    [
        prometheus(f"max by (env) ({of(own.SPOOL_BYTES)})", "{{env}}"),
        prometheus(f"max by (env) ({of(own.SPOOL_LIMIT)})", "{{env}} at most"),
    ],
    Look(low=0),
)
_waiting = time_series(
    Said("Age of the oldest row that waits", "s", "0 if none waits.", _SILENT),
    [prometheus(f"max by (env) ({of(own.SPOOL_AGE)})", "{{env}}")],
    Look(low=0),
)
_written = time_series(
    Said("Rows to the store", "short", "Of an hour.", _SILENT),
    [prometheus(rise(own.WRITER_WRITTEN, by="env"), "{{env}}")],
    Look(low=0),
)
_lost = time_series(
    Said(
        "Rows given up, inserts refused, states refused",
        "short",
        "Of an hour; each should be 0.",
        _SILENT,
    ),
    [
        prometheus(rise(own.WRITER_DROPPED, by="env, reason"), "{{env}} given up: {{reason}}"),
        prometheus(rise(own.WRITER_FAILURES, by="env"), "{{env}} inserts refused"),
        prometheus(rise(streams.STATES_REFUSED, by="env"), "{{env}} states of streams refused"),
    ],
    Look(low=0, bars=True),
)
_bodies = time_series(
    Said("Texts to be kept sealed", "short", "Of an hour, by what became of them.", _SILENT),
    [prometheus(rise(own.BODIES, by="state"), "{{state}}")],
    Look(low=0, bars=True),
)
_sql = time_series(
    Said("Statements of readers", "short", "Of an hour; this dashboard is among them.", _SILENT),
    [prometheus(rise(own.SQL_QUERIES, by="result"), "{{result}}")],
    Look(low=0, stacked=True),
)
_pages = time_series(
    Said(
        "Pages",
        "short",
        "Attempts of an hour to deliver an event, by receiver and what became of them.",
        f"No receiver is configured, or no page was due. {_NONE_YET}",
    ),
    [
        prometheus(
            rise(pages.PAGES, by="route, action, outcome"), "{{route}} {{action}} {{outcome}}"
        )
    ],
    Look(low=0, bars=True, stacked=True),
)
_outbox = time_series(
    Said(
        "Pages that wait, and incidents left unsaid",
        "short",
        "Events in the outbox, and incidents whose page was rejected.",
        "No receiver is configured.",
    ),
    [
        prometheus(f"max by (env) ({of(pages.PAGE_OUTBOX_EVENTS)})", "{{env}} waiting"),
        prometheus(
            f"max by (env, route) ({of(pages.PAGE_INCIDENTS_UNSAID)})", "{{env}} {{route}} unsaid"
        ),
    ],
    Look(low=0, stairs=True),
)
_outbox_age = time_series(
    Said(
        "Age of the oldest page that waits", "s", "0 if none waits.", "No receiver is configured."
    ),
    [prometheus(f"max by (env) ({of(pages.PAGE_OUTBOX_AGE)})", "{{env}}")],
    Look(low=0),
)
_telemetry = time_series(
    Said(
        "Records for the OpenTelemetry collector",
        "short",
        "Of an hour, by what became of them.",
        "No collector is configured.",
    ),
    [prometheus(rise(telemetry.TELEMETRY, by="kind, result"), "{{kind}} {{result}}")],
    Look(low=0, bars=True, stacked=True),
)
_NO_REPORTS = "The daemon builds no weekly reports: see reports in docs/configuration.md."
_reports_owed = time_series(
    Said(
        "Weekly reports that are owed",
        "short",
        "Weeks that are due without a report that holds, and reports nobody was told of.",
        _NO_REPORTS,
    ),
    [
        prometheus(f"max by (env) ({of(reports.REPORTS_MISSING)})", "{{env}} missing"),
        prometheus(f"max by (env) ({of(reports.REPORTS_UNTOLD)})", "{{env}} untold"),
    ],
    Look(low=0, stairs=True),
)
_report_failures = time_series(
    Said("Weekly reports that failed", "short", "Attempts of an hour, and of what.", _NO_REPORTS),
    [prometheus(rise(reports.REPORT_FAILURES, by="kind"), "{{kind}}")],
    Look(low=0, bars=True),
)
_report_age = stat(
    Said(
        "Age of the newest weekly report",
        "s",
        "Since it was due, whenever it was written; one is due each week.",
        f"No report is there yet. {_NO_REPORTS}",
    ),
    [now(f"time() - max by (env) ({of(reports.REPORT_NEWEST_DUE)} > 0)", "{{env}}")],
    Look(steps=((None, GREEN), (7.5 * 86_400, YELLOW), (14 * 86_400, RED))),
)
_sent = table(
    Said(
        "Pages sent, from the store",
        "none",
        "The last two hundred attempts of this time range.",
        "No page was due in this time range, or Grafana cannot reach the store (docs/sql.md).",
    ),
    [
        clickhouse(
            "SELECT at, target, finding, route, action, severity, attempt, outcome, http_status "
            "FROM pages_sent FINAL WHERE $__timeFilter(at) ORDER BY at DESC LIMIT 200"
        )
    ],
)
_audit = table(
    Said(
        "Decisions of people, from the store",
        "none",
        (
            "Links of the audit chain that are not the monitor's own: who decided what. Their "
            "reason is kept with the finding: `davylamp findings show ID`."
        ),
        "Nobody decided anything in this time range, or Grafana cannot reach the store.",
    ),
    [
        clickhouse(
            "SELECT at, actor, action, object FROM audit_log FINAL "
            "WHERE $__timeFilter(at) AND actor != 'davylamp' ORDER BY seq DESC LIMIT 200"
        )
    ],
)

page = Page(
    uid=MONITOR,
    title=title_of(MONITOR),
    about="Whether Davylamp itself runs, sees, keeps what it saw, and tells.",
    variables=(PROMETHEUS_SOURCE, CLICKHOUSE_SOURCE, ENV),
    annotations=OWN_MARKS,
    links=elsewhere(MONITOR),
    tags=("self",),
    shelves=(
        Shelf(
            title="Does it run, does it see?",
            panels=(
                *((12, 5, _version), (4, 5, _since), (4, 5, _tested), (4, 5, _blind)),
                *((16, 7, _alerts), (8, 7, _links)),
            ),
        ),
        Shelf(
            title="Does it keep what it saw?",
            panels=(
                *((8, 7, _queue), (8, 7, _spool), (8, 7, _waiting)),
                *((8, 7, _written), (8, 7, _lost), (8, 7, _bodies)),
            ),
        ),
        Shelf(
            title="Does it tell?",
            panels=(
                *((8, 7, _pages), (8, 7, _outbox), (8, 7, _outbox_age)),
                *((8, 7, _reports_owed), (8, 7, _report_failures), (8, 7, _report_age)),
                *((12, 7, _telemetry), (12, 7, _sql), (12, 8, _sent), (12, 8, _audit)),
            ),
        ),
    ),
)
