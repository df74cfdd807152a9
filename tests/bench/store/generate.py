"""Many verdicts made inside the engine: real passes, again and again, for ninety days.

The rows of real passes stand in tables of a database ``bench``; each pass that is made is a copy of
one of them with its own ids, hashes, times and durations, inserted into the product's tables a day
at a time, so that materialized views see what they would see in life. Everything comes of hashes of
the pass's number: the same size gives the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from monitor.store.client import Client
from monitor.store.rows import (
    TABLES,
    AnyRow,
    BudgetRow,
    ExchangeRow,
    ExchangeVerdictRow,
    FindingRow,
    LadderRow,
    MarkerRow,
    SignalRow,
    TrialRow,
    VerdictRow,
    columns,
    values,
)
from tests.bench.store.passes import HEALTHY, KINDS, Pass, rows_of

TARGETS = 20
DAYS = 90
# In one of so many days of a target its answers are those of one of the passes that are not well.
INCIDENT_EVERY = 40
# A change of a finding writes it again.
FINDING_VERSIONS = 5
_SECONDS_A_DAY = 86_400
_CHUNK = 2_000

# What a copy has of its own; every other column is as it was. ``p`` is the number of the pass,
# ``o`` the trial's place in it.
_TRIAL = "concat('trial-', lower(substring(hex(sipHash128(p, o, 1)), 1, 24)))"
_VERDICT = "concat('verdict-', lower(substring(hex(sipHash128(p, o, 2)), 1, 24)))"
_FINDING = (
    "if(finding = '', '', concat('finding-', "
    "lower(substring(hex(sipHash128(target_number, today, finding)), 1, 24))))"
)
_TIME = "began + toIntervalMillisecond(offset)"
# As many random bytes as a nonce, a code with its salt and a tag, until they are erased.
_SEALED = (
    f"if(sealed = '' OR {_TIME} + toIntervalDay(30) <= {{until:DateTime}}, '', "
    "base64Encode(substring(concat("
    + ", ".join(f"sipHash128(p, id, {part})" for part in range(5))
    + "), 1, 67)))"
)
_LIKE = "(0.8 + 0.4 * (sipHash64(p, o, exchange) % 1000003) / 1000003)"


def _hash(column: str, number: int) -> str:
    return f"if({column} = '', '', lower(hex(sipHash128(p, o, exchange, {number}))))"


_OWN: dict[type[AnyRow], dict[str, str]] = {
    TrialRow: {"id": _TRIAL, "started_at": _TIME},
    ExchangeRow: {
        "trial": _TRIAL,
        "started_at": _TIME,
        "total_seconds": f"total_seconds * {_LIKE}",
        "first_token_seconds": f"first_token_seconds * {_LIKE}",
        "request_hash": _hash("request_hash", 3),
        "response_hash": _hash("response_hash", 4),
        "response_id": _hash("response_id", 5),
        "request_id": _hash("request_id", 5),
    },
    VerdictRow: {"id": _VERDICT, "trial": _TRIAL, "decided_at": _TIME, "finding": _FINDING},
    ExchangeVerdictRow: {"verdict": _VERDICT, "trial": _TRIAL, "decided_at": _TIME},
    SignalRow: {
        "verdict": _VERDICT,
        "trial": _TRIAL,
        "decided_at": _TIME,
        "marker": "if(marker = '', '', concat('marker-', "
        "lower(substring(hex(sipHash128(p, marker)), 1, 24))))",
        "owner_trial": "if(owner_trial = '', '', concat('trial-', "
        "lower(substring(hex(sipHash128(p, owner_trial)), 1, 24))))",
        "span_hashes": "arrayMap(h -> lower(hex(sipHash128(p, h))), span_hashes)",
    },
    MarkerRow: {
        "id": "concat('marker-', lower(substring(hex(sipHash128(p, id)), 1, 24)))",
        "trial": _TRIAL,
        "part_hashes": "arrayMap(h -> sipHash64(p, h), part_hashes)",
        "sealed": _SEALED,
        "minted_at": _TIME,
        "expires_at": f"{_TIME} + toIntervalDay(30)",
        "epoch": "toString(toDate(began))",
    },
    FindingRow: {
        "id": "concat('finding-', "
        "lower(substring(hex(sipHash128(target_number, today, id)), 1, 24)))",
        "first_seen": _TIME,
        "last_seen": f"{_TIME} + toIntervalMinute(later)",
        "version": "later",
        "count": "later",
        "trials": "arrayMap(t -> concat('trial-', "
        "lower(substring(hex(sipHash128(p, t)), 1, 24))), trials)",
        # What is older than a month somebody has looked at.
        "state": f"if(later = {FINDING_VERSIONS} AND today + 30 < toDate({{until:DateTime}}), "
        "'resolved', state)",
    },
}
_OWN[BudgetRow] = {
    "reservation": "concat('reservation-', lower(substring(hex(sipHash128(p, o, 6)), 1, 24)))",
    "day": "today",
    "changed_at": _TIME,
}
_TIME_OF = {
    BudgetRow: "changed_at",
    ExchangeRow: "started_at",
    TrialRow: "started_at",
    MarkerRow: "minted_at",
    FindingRow: "first_seen",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much to make; ``every`` says of which tables only one pass in so many is made."""

    passes: int
    until: datetime
    targets: int = TARGETS
    days: int = DAYS
    every: dict[type[AnyRow], int] = field(default_factory=dict)

    @property
    def start(self) -> datetime:
        """Midnight before the first pass."""
        return self.until - timedelta(days=self.days)


def plan_of(verdicts: int, passes: Sequence[Pass], until: datetime, **more: object) -> Plan:
    """Return the plan that makes about so many verdicts, up to a midnight."""
    healthy = next(each for each in passes if each.name == HEALTHY)
    number = max(1, round(verdicts / len(healthy.judged)))
    return Plan(passes=number, until=until, **more)  # type: ignore[arg-type]


def lay_templates(client: Client, passes: Sequence[Pass]) -> None:
    """Put the rows of the passes into tables of their own."""
    client.command("CREATE DATABASE IF NOT EXISTS bench")
    for kind in KINDS:
        table = TABLES[kind]
        client.command(f"DROP TABLE IF EXISTS bench.{table}")
        laid = "toUInt32(0) AS template, toUInt32(0) AS o, toInt64(0) AS offset"
        none = f"SELECT {laid}, * FROM {table} LIMIT 0"  # noqa: S608 - our own names
        client.command(f"CREATE TABLE bench.{table} ENGINE = Memory AS {none}")
    for number, each in enumerate(passes):
        _lay(client, number, each)


def _lay(client: Client, number: int, one: Pass) -> None:
    began = min(trial.started_at for trial, _ in one.judged)
    places = {trial.id: place for place, (trial, _) in enumerate(one.judged)}
    for kind, rows in rows_of(one).items():
        named = ("template", "o", "offset", *columns(kind))
        laid = [(number, _place(row, places), _offset(row, began), *values(row)) for row in rows]
        for start in range(0, len(laid), _CHUNK):
            client.insert(f"bench.{TABLES[kind]}", laid[start : start + _CHUNK], named)


def _place(row: AnyRow, places: dict[str, int]) -> int:
    if isinstance(row, TrialRow):
        return places[row.id]
    if isinstance(row, BudgetRow):
        return places[row.reservation]
    trial = getattr(row, "trial", "")
    return places.get(trial, 0)


def _offset(row: AnyRow, began: datetime) -> int:
    moment: datetime = getattr(row, _TIME_OF.get(type(row), "decided_at"))
    return round((moment - began).total_seconds() * 1000)


def make_ladders(client: Client, plan: Plan) -> None:
    """Make a context ladder a day for each target."""
    rows = [
        LadderRow(
            id=f"ladder-{target:012x}{day:012x}",
            target=f"target-{target:02d}",
            model="lamp-lab-1",
            started_at=plan.start + timedelta(days=day, minutes=target),
            finished_at=plan.start + timedelta(days=day, minutes=target + 5),
            verified_tokens=8000,
            verified_error_tokens=100,
            failed_tokens=None,
            enforced_tokens=8192,
            advertised_tokens=8192,
            advertised_source="v1_models.max_model_len",
            exit_code=0,
            reason="verified up to the limit",
            spent_tokens=90_000,
        )
        for day in range(plan.days)
        for target in range(plan.targets)
    ]
    for start in range(0, len(rows), _CHUNK):
        some = [values(row) for row in rows[start : start + _CHUNK]]
        client.insert(TABLES[LadderRow], some, columns(LadderRow))


def make_older_sums(client: Client, plan: Plan, until_days: int = 400) -> None:
    """Make the sums of the days before, as copies of those there are: nothing reads their rows."""
    sums = client.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND engine LIKE '%AggregatingMergeTree'"
    )
    for (table,) in sums:
        named = [
            str(name)
            for (name,) in client.query(
                "SELECT name FROM system.columns WHERE database = currentDatabase() "
                "AND table = {table:String} ORDER BY position",
                {"table": table},
            )
        ]
        earlier = ["t.at - toIntervalDay({days:UInt32})", *(f"t.{name}" for name in named[1:])]
        for back in range(1, -(-until_days // plan.days)):
            client.command(
                f"INSERT INTO {table} SELECT {', '.join(earlier)} FROM {table} AS t "  # noqa: S608
                "WHERE t.at >= {start:DateTime}",
                {"days": plan.days * back, "start": plan.start},
            )


def make(client: Client, plan: Plan, templates: int) -> None:
    """Make the rows of every day, oldest first."""
    for day in range(plan.days):
        first, end = (-(-plan.passes * edge // plan.days) for edge in (day, day + 1))
        for kind in KINDS:
            if first < end:
                _make_day(client, plan, kind, (first, end, templates))


def _make_day(client: Client, plan: Plan, kind: type[AnyRow], span: tuple[int, int, int]) -> None:
    # The templates stand on the left: their columns are then copied, not looked up row by row.
    first, end, templates = span
    every = plan.every.get(kind, 1)
    own = _OWN[kind] | {"target": "concat('target-', leftPad(toString(target_number), 2, '0'))"}
    taken = ", ".join(f"{own.get(name, name)} AS {name}_" for name in columns(kind))
    later = "ARRAY JOIN range(1, {versions:UInt32} + 1) AS later" if kind is FindingRow else ""
    sql = f"""
INSERT INTO {TABLES[kind]} ({", ".join(columns(kind))})
SELECT {taken}
FROM bench.{TABLES[kind]} AS made
INNER JOIN
(
    SELECT
        number AS p,
        number % {{targets:UInt32}} AS target_number,
        {{start:DateTime64(3, 'UTC')}} + toIntervalMillisecond(
            intDiv(number * {{span:UInt64}}, {{passes:UInt64}})) AS began,
        toDate(began) AS today,
        today - toDate({{start:DateTime64(3, 'UTC')}}) AS nth_day,
        sipHash64(target_number, nth_day) % {INCIDENT_EVERY} AS luck,
        if(luck + 1 < {{templates:UInt32}}, luck + 1, 0) AS template
    FROM numbers({{first:UInt64}}, {{count:UInt64}})
    WHERE sipHash64(number, 'every') % {{every:UInt32}} = 0
) AS passes USING (template)
{later}
SETTINGS short_circuit_function_evaluation = 'force_enable', parallel_view_processing = 1"""  # noqa: S608 - our own names
    client.command(
        sql,
        {
            "targets": plan.targets,
            "start": plan.start.astimezone(UTC),
            "until": plan.until.astimezone(UTC),
            "span": plan.days * _SECONDS_A_DAY * 1000,
            "passes": plan.passes,
            "templates": templates,
            "first": first,
            "count": end - first,
            "every": every,
            "versions": FINDING_VERSIONS,
        },
    )
