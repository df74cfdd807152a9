"""The longer statements of the weekly report: findings, leaks, nodes, and what changed."""

from __future__ import annotations

from monitor.model import VerdictClass
from monitor.store.rows import (
    TABLES,
    AuditRow,
    CalibrationRow,
    ExchangeRow,
    FindingChangeRow,
    FindingRow,
    NodeSnapshotRow,
    ScheduleEventRow,
    SignalRow,
    TargetRow,
    VerdictRow,
)

_SINCE, _UNTIL = "{since:DateTime64(3, 'UTC')}", "{until:DateTime64(3, 'UTC')}"
_EARLIER = "{earlier:DateTime64(3, 'UTC')}"
_OPEN = ("needs_review", "confirmed")
# Of a target that writes a fresh name into every answer the first few are enough to say so.
_MOST_NAMES = 20


def within(column: str) -> str:
    """Return the condition that an instant is within the parameters ``since`` and ``until``."""
    return f"{column} >= {_SINCE} AND {column} < {_UNTIL}"


def before(column: str) -> str:
    """Return the condition that an instant is before the parameter ``until``."""
    return f"{column} < {_UNTIL}"


_ROTATION = "out_of_rotation_at, back_in_rotation_at, rotation_by"
# Findings of before there were changes have one version: the last.
_VERSIONS = (
    "(SELECT finding, version, changed_at, class, state, count, reproduced, "  # noqa: S608
    f"child_count, who, {_ROTATION} FROM {TABLES[FindingChangeRow]} FINAL "
    f"WHERE {before('changed_at')} "
    "UNION ALL SELECT id AS finding, version, changed_at, class, state, count, reproduced, "
    f"toUInt32(length(children)) AS child_count, who, {_ROTATION} FROM {TABLES[FindingRow]} FINAL "
    f"WHERE {before('changed_at')})"
)
STORIES = (
    "SELECT f.id, f.target, f.shape, f.stratum, c.class_then, c.state_then, c.count_then, "  # noqa: S608
    "c.reproduced_then, c.children_then, f.first_seen, c.proven_at, c.acknowledged_at, "
    "c.acknowledged_by, c.closed_at, c.closed_by, c.rotation.1, c.rotation.2, c.rotation.3 "
    f"FROM (SELECT id, target, shape, stratum, first_seen FROM {TABLES[FindingRow]} FINAL) AS f "
    "INNER JOIN (SELECT h.finding AS finding, argMax(h.class, h.version) AS class_then, "
    "argMax(h.state, h.version) AS state_then, argMax(h.count, h.version) AS count_then, "
    "argMax(h.reproduced, h.version) AS reproduced_then, "
    "argMax(h.child_count, h.version) AS children_then, "
    "minOrNullIf(h.changed_at, h.state = 'confirmed') AS proven_at, "
    "minOrNullIf(h.changed_at, h.who != '') AS acknowledged_at, "
    "argMinIf(h.who, h.version, h.who != '') AS acknowledged_by, "
    "minOrNullIf(h.changed_at, h.version > o.last_open) AS closed_at, "
    "argMinIf(h.who, h.version, h.version > o.last_open) AS closed_by, "
    # In a tuple, since argMax alone passes over what is NULL.
    f"argMax(({_ROTATION}), h.version) AS rotation "
    f"FROM {_VERSIONS} AS h INNER JOIN (SELECT finding, maxIf(version, state IN {_OPEN}) "
    f"AS last_open FROM {_VERSIONS} GROUP BY finding) AS o ON o.finding = h.finding "
    "GROUP BY h.finding) AS c ON c.finding = f.id "
    f"WHERE isNull(c.closed_at) OR c.closed_at >= {_SINCE} ORDER BY f.first_seen, f.id"
)
# Each time that a finding was opened, was closed, or became another class.
TURNS = (
    "SELECT finding, changed_at, is_open, class FROM (SELECT finding, version, changed_at, class, "  # noqa: S608
    f"state IN {_OPEN} AS is_open, lagInFrame(is_open) OVER earlier AS was_open, "
    "lagInFrame(class) OVER earlier AS class_before "
    f"FROM {_VERSIONS} WHERE finding IN {{findings:Array(String)}} "
    "WINDOW earlier AS (PARTITION BY finding ORDER BY version, changed_at "
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) "
    "WHERE is_open != was_open OR class != class_before ORDER BY finding, version"
)
# Each time that a target was taken out of rotation, with the first closing while it was. Nobody
# tells of a closed finding when its target is put back.
DRAINS = (
    "SELECT finding, out_of_rotation_at, argMax(tuple(back_in_rotation_at), version).1, "  # noqa: S608
    f"minOrNullIf(changed_at, state NOT IN {_OPEN} AND isNull(back_in_rotation_at)) "
    f"FROM {_VERSIONS} WHERE finding IN {{findings:Array(String)}} "
    "AND isNotNull(out_of_rotation_at) GROUP BY finding, out_of_rotation_at "
    "ORDER BY finding, out_of_rotation_at"
)

_OF_OTHERS = (
    f"{within('decided_at')} AND status = 'fail' AND code IN ('FOREIGN', 'CROSSED') "
    "AND owner_tenant != '' AND source != 'rescore'"
)
LEAKS = (
    "SELECT s.target, v.finding, v.class, concat(s.code, '/', s.variant) AS kind, "  # noqa: S608
    "s.owner_target, s.owner_tenant, e.tenant, count() AS sightings, uniqExact(s.marker), "
    "max(s.evidence_bits), min(s.decided_at), max(s.decided_at), "
    "uniqExact((s.trial, s.exchange)) "
    f"FROM (SELECT * FROM {TABLES[SignalRow]} FINAL WHERE {_OF_OTHERS}) AS s "
    f"INNER JOIN (SELECT id, finding, class FROM {TABLES[VerdictRow]} FINAL "
    f"WHERE {within('decided_at')} AND finding != '') AS v ON v.id = s.verdict "
    f"LEFT JOIN (SELECT trial, exchange, tenant FROM {TABLES[ExchangeRow]} "
    f"WHERE started_at >= {{asked_since:DateTime64(3, 'UTC')}} AND {before('started_at')} "
    f"AND trial IN (SELECT trial FROM {TABLES[SignalRow]} WHERE {_OF_OTHERS}) "
    "LIMIT 1 BY trial, exchange) AS e ON e.trial = s.trial AND e.exchange = s.exchange "
    "GROUP BY s.target, v.finding, v.class, kind, s.owner_target, s.owner_tenant, e.tenant "
    "ORDER BY s.target, v.finding, kind, s.owner_target, s.owner_tenant, e.tenant, v.class"
)

# Classes below these prove nothing by one answer, or are not of one answer.
_OF_ANSWERS = "('CONTRACT', 'CORRUPT', 'WRONG_INPUT', 'CROSSED', 'LEAK')"
_MILDEST_FIRST = [each.label for each in sorted(VerdictClass)]
_AGAIN = f"{within('decided_at')} AND source = 'rescore' AND outcome = 'bad'"
ANY_AGAIN = f"SELECT count() FROM {TABLES[VerdictRow]} WHERE {_AGAIN}"  # noqa: S608
# What the first verdict said already, or worse, stands where that verdict does.
RESCORED = (
    "SELECT a.target, a.class, multiIf(f.outcome = '', 'not_kept', "  # noqa: S608
    "f.outcome = 'bad', f.class, f.outcome) AS was, uniqExact(a.trial), min(a.decided_at), "
    f"max(a.decided_at) FROM (SELECT * FROM {TABLES[VerdictRow]} FINAL WHERE {_AGAIN}) AS a "
    f"LEFT JOIN (SELECT id, outcome, class FROM {TABLES[VerdictRow]} "
    f"WHERE {before('decided_at')} AND source != 'rescore' AND id IN "
    f"(SELECT rescores FROM {TABLES[VerdictRow]} WHERE {_AGAIN}) LIMIT 1 BY id) AS f "
    "ON f.id = a.rescores WHERE f.outcome != 'bad' "
    f"OR indexOf({_MILDEST_FIRST}, a.class) > indexOf({_MILDEST_FIRST}, f.class) "
    "GROUP BY a.target, a.class, was ORDER BY a.target, a.class, was"
)
# Mistakes of scheduled trials open no finding and are in the rates; what moved is told as drift.
WITHOUT_FINDING = (
    "SELECT target, class, source, scheduled, count(), min(decided_at), max(decided_at) "  # noqa: S608
    f"FROM {TABLES[VerdictRow]} FINAL WHERE {within('decided_at')} AND outcome = 'bad' "
    "AND finding = '' AND source NOT IN ('rescore', 'stream') "
    f"AND (NOT scheduled OR class IN {_OF_ANSWERS}) "
    "GROUP BY target, class, source, scheduled ORDER BY target, class, source, scheduled"
)

# Exchanges of probes by how long they took; answers that were reported were not timed.
_KEPT = f"{TABLES[ExchangeRow]} FINAL WHERE {within('started_at')} AND probe != 'traffic'"
_SLOW = "{within_seconds:Float64}"
DURATIONS = (
    f"SELECT target, probe, countIf(total_seconds > {_SLOW}), count(), count(), "  # noqa: S608
    f"countIf(streamed) FROM {_KEPT} GROUP BY target, probe"
)
FIRST_TOKENS = (
    f"SELECT target, probe, countIf(streamed AND first_token_seconds > {_SLOW}), "  # noqa: S608
    "countIf(streamed AND isNotNull(first_token_seconds)), count(), countIf(streamed) "
    f"FROM {_KEPT} GROUP BY target, probe"
)

_WELL = "('pass', 'warn')"
_TOLD = "n.conformity IN ('pass', 'warn', 'fail')"


def _silence(first: str, last: str) -> str:
    """Return the longest time without a reading that could tell, in hours, between two ends."""
    ends = [f"[toUnixTimestamp64Milli({each})]" for each in (first, last)]
    told = f"arraySort(groupArrayIf(toUnixTimestamp64Milli(n.at), {_TOLD}))"
    times = f"arrayConcat({ends[0]}, {told}, {ends[1]})"
    return f"arrayMax(arrayDifference({times})) / 3600000"


_READINGS = f"(SELECT * FROM {TABLES[NodeSnapshotRow]} FINAL WHERE {before('at')})"  # noqa: S608
NODES = (
    "SELECT r.target, r.node, r.engine, r.engine_version, r.role, r.conformity, r.readings, "  # noqa: S608
    "r.conforming, r.failing, r.unknown, f.failing_since, f.failing_until, r.failed, r.warned, "
    "r.unsure, r.last_at, r.hours_told, r.silence, r.first_told, r.last_told "
    "FROM (SELECT n.target AS target, n.node AS node, "
    "argMax(n.engine, n.at) AS engine, argMax(n.engine_version, n.at) AS engine_version, "
    "argMax(n.role, n.at) AS role, argMax(n.conformity, n.at) AS conformity, count() AS readings, "
    f"countIf(n.conformity IN {_WELL}) AS conforming, countIf(n.conformity = 'fail') AS failing, "
    "countIf(n.conformity NOT IN ('pass', 'warn', 'fail')) AS unknown, "
    "argMax(n.failed_rules, n.at) AS failed, argMax(n.warned_rules, n.at) AS warned, "
    "argMax(n.unknown_rules, n.at) AS unsure, max(n.at) AS last_at, "
    f"uniqExactIf(toStartOfHour(n.at), {_TOLD}) AS hours_told, "
    f"minOrNullIf(n.at, {_TOLD}) AS first_told, maxOrNullIf(n.at, {_TOLD}) AS last_told, "
    f"{_silence('min(n.at)', 'max(n.at)')} AS silence "
    f"FROM {_READINGS} AS n WHERE n.at >= {_SINCE} GROUP BY n.target, n.node) AS r "
    "LEFT JOIN (SELECT a.target AS target, a.node AS node, "
    "minOrNullIf(a.at, a.conformity = 'fail' AND a.at > b.last_well) AS failing_since, "
    "maxOrNullIf(a.at, a.conformity = 'fail' AND a.at > b.last_well) AS failing_until "
    f"FROM {_READINGS} AS a INNER JOIN (SELECT target, node, "
    f"maxIf(at, conformity IN {_WELL}) AS last_well FROM {_READINGS} GROUP BY target, node) AS b "
    "ON b.target = a.target AND b.node = a.node GROUP BY a.target, a.node) AS f "
    "ON f.target = r.target AND f.node = r.node ORDER BY r.target, r.node"
)
NODE_COUNTS = (
    "SELECT target, count(), countIf(conformity = 'fail'), "  # noqa: S608
    f"countIf(conformity IN {_WELL}) FROM {TABLES[NodeSnapshotRow]} FINAL "
    f"WHERE {within('at')} GROUP BY target"
)
NODE_BEGINNINGS = (
    f"SELECT target, min(at) AS begun FROM {TABLES[NodeSnapshotRow]} "  # noqa: S608
    f"WHERE {before('at')} GROUP BY target"
)
# Nobody looked before there was anything to look with.
NODE_SILENCES = (
    f"SELECT n.target, {_silence(f'greatest({_SINCE}, min(b.begun))', _UNTIL)} "  # noqa: S608
    f"FROM {TABLES[NodeSnapshotRow]} AS n INNER JOIN ({NODE_BEGINNINGS}) AS b "
    f"ON b.target = n.target WHERE {within('n.at')} GROUP BY n.target"
)

GOLDEN = "golden prompts"
# Rows that were written twice are both in here: whoever counts them counts exchanges.
_GOLDEN = (
    f"FROM {TABLES[ExchangeRow]} WHERE started_at >= {_EARLIER} AND {before('started_at')} "
    "AND golden != ''"
)
# What is new against the time before: (what, target, at, now, who).
CHANGES = (
    # A target as it is configured.
    (
        "SELECT 'configuration' AS what, name, seen_at, "  # noqa: S608
        "concat(engine, ' ', model, ', configuration ', substring(config_hash, 1, 12)) AS after, "
        f"'' AS who FROM {TABLES[TargetRow]} FINAL WHERE {within('seen_at')}"
    ),
    (
        "SELECT 'calibration' AS what, target, made_at, "  # noqa: S608
        f"concat('checks ', checks_version) AS after, made_by FROM {TABLES[CalibrationRow]} FINAL "
        f"WHERE {within('made_at')}"
    ),
    # Notes of the schedule that a target changed.
    (
        "SELECT concat('seen: ', kind) AS what, target, at, '' AS after, "  # noqa: S608
        f"'' AS who FROM {TABLES[ScheduleEventRow]} FINAL WHERE {within('at')} "
        "AND kind != 'missed_runs'"
    ),
    (
        "SELECT 'checks' AS what, target, first_at, checks_version, '' AS who "  # noqa: S608
        "FROM (SELECT target, checks_version, min(decided_at) AS first_at, "
        f"countIf(decided_at < {_SINCE}) AS earlier_ones FROM {TABLES[VerdictRow]} "
        f"WHERE decided_at >= {_EARLIER} AND {before('decided_at')} AND source = 'probe' "
        "GROUP BY target, checks_version) WHERE earlier_ones = 0"
    ),
    (
        "SELECT 'reported model or fingerprint' AS what, target, first_at, "  # noqa: S608
        "concat(reported_model, ' ', system_fingerprint) AS after, '' AS who "
        "FROM (SELECT target, reported_model, system_fingerprint, min(started_at) AS first_at, "
        f"countIf(started_at < {_SINCE}) AS earlier_ones FROM {TABLES[ExchangeRow]} "
        f"WHERE started_at >= {_EARLIER} AND {before('started_at')} AND probe != 'traffic' "
        "AND (reported_model != '' OR system_fingerprint != '') "
        "GROUP BY target, reported_model, system_fingerprint) WHERE earlier_ones = 0 "
        f"ORDER BY target, first_at, after LIMIT {_MOST_NAMES} BY target"
    ),
    (
        f"SELECT '{GOLDEN}: first asked' AS what, target, first_at, golden AS after, "  # noqa: S608
        "'' AS who FROM (SELECT target, golden, min(started_at) AS first_at, "
        f"countIf(started_at < {_SINCE}) AS earlier_ones {_GOLDEN} "
        "GROUP BY target, golden) WHERE earlier_ones = 0"
    ),
    (
        f"SELECT '{GOLDEN}: another version' AS what, target, min(first_at) AS at, "  # noqa: S608
        "concat(golden, ' (', argMin(earlier_version, (first_at, version)), ' → ', "
        "arrayStringConcat(arraySlice(arrayMap(each -> each.2, "
        f"arraySort(groupArray((first_at, version)))), 1, {_MOST_NAMES}), ' → '), "
        f"if(count() > {_MOST_NAMES}, concat(' and ', toString(count() - {_MOST_NAMES}), ' more'), "
        "''), ')') AS after, '' AS who FROM ("
        "SELECT target, golden, version, first_at, lagInFrame(version) OVER (PARTITION BY target, "
        "golden ORDER BY first_at, version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) "
        # By the hour, so that a version that came back is a change too.
        "AS earlier_version FROM (SELECT target, golden, golden_version AS version, "
        f"toStartOfHour(started_at) AS hour, min(started_at) AS first_at {_GOLDEN} "
        "AND golden_version != '' GROUP BY target, golden, version, hour)) "
        f"WHERE first_at >= {_SINCE} AND earlier_version NOT IN ('', version) "
        "GROUP BY target, golden"
    ),
    (
        f"SELECT '{GOLDEN}: not asked any more' AS what, target, {_SINCE} AS at, "  # noqa: S608
        "arrayJoin(said) AS after, '' AS who FROM (SELECT target, "
        "groupArrayIf(concat(golden, ' (', "
        "toString(times), if(times = 1, ' time', ' times'), ' in the week before, last on ', "
        "formatDateTime(last_at, '%F %H:%i', 'UTC'), ')'), now_asked = 0) AS said, "
        "sum(now_asked) AS still_asked FROM (SELECT target, golden, "
        "uniqExact((trial, exchange)) AS times, "
        f"max(started_at) AS last_at, countIf(started_at >= {_SINCE}) AS now_asked {_GOLDEN} "
        "GROUP BY target, golden) GROUP BY target) WHERE notEmpty(said) AND still_asked > 0"
    ),
    (
        "SELECT concat('version of node ', node) AS what, target, first_at, "  # noqa: S608
        "concat(engine, ' ', engine_version) AS after, '' AS who "
        "FROM (SELECT target, node, engine, engine_version, min(at) AS first_at, "
        f"countIf(at < {_SINCE}) AS earlier_ones FROM {TABLES[NodeSnapshotRow]} FINAL "
        f"WHERE at >= {_EARLIER} AND {before('at')} "
        "GROUP BY target, node, engine, engine_version) WHERE earlier_ones = 0 "
        f"ORDER BY target, node, first_at LIMIT {_MOST_NAMES} BY target, node"
    ),
    # What was done to the store itself.
    (
        "SELECT concat('store: ', action) AS what, '' AS target, at, "  # noqa: S608
        f"object AS after, actor FROM {TABLES[AuditRow]} WHERE {within('at')} "
        "AND action IN ('begin', 'migrate', 'retention', 'forget', 'restore') LIMIT 1 BY seq"
    ),
)
