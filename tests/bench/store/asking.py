"""Every panel over every range, as readers ask it, beside the same question put to single rows.

Asked is the engine that serves readers, with its limits. The naive way reads the tables that the
sums were made of, ``FINAL`` because a row may be written twice: what a panel is without roll-ups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from monitor.sqlhttp.engine import SqlEngine
from monitor.sqlhttp.failures import SqlError
from monitor.store.panels import PANELS, Panel, Step
from tests.bench.store.measure import Times, repeated

RANGES = {
    "1 h": (timedelta(hours=1), Step.HOUR),
    "24 h": (timedelta(days=1), Step.HOUR),
    "7 d": (timedelta(days=7), Step.HOUR),
    "90 d": (timedelta(days=90), Step.DAY),
    "90 d by hour": (timedelta(days=90), Step.HOUR),
    "400 d": (timedelta(days=400), Step.DAY),
}
# A sketch is off by one part in a hundred, and money is added in another order.
_ROUGH = frozenset({"latency", "budget"})
# What is older than the rows is in the sums only.
_OLDER = "400 d"
# Over these the naive way is asked too, once: it takes long.
_BESIDE = frozenset({"24 h", "7 d", "90 d"})
_IN_RANGE = (
    "$time >= $start({from:DateTime64(3, 'UTC')}) AND $time < {until:DateTime64(3, 'UTC')} "
    "AND (empty({targets:Array(String)}) OR target IN {targets:Array(String)})"
)
_SINGLE = {
    "verdicts": "SELECT *, $start(decided_at) AS at, 1 AS number, decided_at AS last_at "
    "FROM verdicts FINAL WHERE $judged",
    "exchange_verdicts": "SELECT *, $start(decided_at) AS at, 1 AS number "
    "FROM exchange_verdicts FINAL WHERE $judged",
    "signals": "SELECT target, code, variant, status, source, owner_target, owner_tenant, "
    "evidence_bits, $start(decided_at) AS at, 1 AS number FROM signals FINAL WHERE $judged "
    "UNION ALL SELECT target, code, '' AS variant, status, source, '' AS owner_target, "
    "'' AS owner_tenant, NULL AS evidence_bits, $start(decided_at) AS at, 1 AS number "
    "FROM exchange_verdicts FINAL ARRAY JOIN quiet_codes AS code, quiet_statuses AS status "
    "WHERE $judged",
    "exchanges": "SELECT target, probe, stratum, part, failure, $start(e.started_at) AS at, "
    "1 AS number, ifNull(e.http_status, 0) AS http_status, total_seconds, first_token_seconds, "
    "ifNull(e.input_tokens, 0) AS input_tokens, ifNull(e.output_tokens, 0) AS output_tokens, "
    "ifNull(e.cached_tokens, 0) AS cached_tokens "
    "FROM exchanges AS e FINAL WHERE $asked",
    "budget": "SELECT toDateTime(day, 'UTC') AS at, target, budget, version = 1 AS settled, "
    "version = 0 AS open, tokens * (version = 1) AS settled_tokens, "
    "usd * (version = 1) AS settled_usd FROM budget_spent FINAL",
}
_SUMS = re.compile(
    r"\b(verdicts|exchange_verdicts|exchanges|signals|budget)_(?:hourly|daily)\b( AS s)?"
)
_SKETCH = "quantilesDDMerge(0.01, 0.5, 0.95, 0.99)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One panel over one range; ``naive`` is missing if that gave no answer, with the reason."""

    panel: str
    span: str
    times: Times
    rows: int
    naive_seconds: float | None
    naive_failed: str
    same: bool | None


def naive(panel: Panel, step: Step) -> str:
    """Return the panel's question put to single rows."""
    start = "toStartOfHour" if step is Step.HOUR else "toStartOfDay"
    text = _SUMS.sub(lambda found: f"({_SINGLE[found[1]]}) AS s", panel.statement(step))
    for name, column in (("$judged", "decided_at"), ("$asked", "e.started_at")):
        text = text.replace(name, _IN_RANGE.replace("$time", column))
    return text.replace("$start", start).replace(_SKETCH, "quantiles(0.5, 0.95, 0.99)")


def asked(
    engine: SqlEngine, until: datetime, trial: str, *, spans: Sequence[str], budget_seconds: float
) -> Iterator[Asked]:
    """Ask every panel over these ranges; about one trial, and what has no sums, once."""
    for name, panel in PANELS.items():
        for span in spans if panel.looks_back else (_OLDER,):
            length, step = RANGES[span]
            parameters = _parameters(until - length, until, trial)
            yield _ask(
                engine,
                (name, span, panel.statement(step)),
                parameters,
                naive_sql=naive(panel, step) if span in _BESIDE else None,
                budget_seconds=budget_seconds,
            )


def _ask(
    engine: SqlEngine,
    question: tuple[str, str, str],
    parameters: dict[str, str],
    *,
    naive_sql: str | None,
    budget_seconds: float,
) -> Asked:
    name, span, sql = question
    said, times = _timed(engine, sql, parameters, budget_seconds)
    seconds, failed, same = None, "", None
    if naive_sql is not None:
        try:
            other, naive_times = _timed(engine, naive_sql, parameters, 0)
        except SqlError as error:
            failed = str(error).splitlines()[0][:80]
        else:
            seconds = naive_times.p50
            same = None if name in _ROUGH else said == other
    return Asked(
        panel=name,
        span=span,
        times=times,
        rows=said.count(b"\n"),
        naive_seconds=seconds,
        naive_failed=failed,
        same=same,
    )


def _timed(
    engine: SqlEngine, sql: str, parameters: dict[str, str], budget_seconds: float
) -> tuple[bytes, Times]:
    answers: list[bytes] = []
    times = repeated(
        lambda: answers.append(_answer(engine, sql, parameters)),
        budget_seconds=budget_seconds,
        most=100,
    )
    return answers[-1], times


def _answer(engine: SqlEngine, sql: str, parameters: dict[str, str]) -> bytes:
    with engine.run(sql.encode(), parameters, "TSV").file as file:
        return file.read()


def _parameters(since: datetime, until: datetime, trial: str) -> dict[str, str]:
    def instant(moment: datetime) -> str:
        return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.000")

    return {"from": instant(since), "until": instant(until), "targets": "[]", "trial": trial}
