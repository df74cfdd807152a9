-- Sums by hour and by day, so that a year of panels reads no single verdict. Views fill them from
-- each block that is inserted, and know a block they have seen by its token. What a person or the
-- clock does to the rows later (release, delete) leaves the sums as they are.
--
-- Rows that are there already are added once: the view is dropped, the sums are emptied and made
-- again, and the view comes last, so that a migration broken off anywhere may begin again. Nothing
-- else may write meanwhile; the store's own writer begins after its migrations.

-- Verdicts of stored answers judged again must not be counted twice: their rows tell who judged.
ALTER TABLE exchange_verdicts ADD COLUMN IF NOT EXISTS source LowCardinality(String) DEFAULT if(probe = 'traffic', 'traffic', 'probe');
ALTER TABLE signals ADD COLUMN IF NOT EXISTS source LowCardinality(String) DEFAULT 'probe';
ALTER TABLE signals
    UPDATE source = 'traffic' WHERE source = 'probe' AND verdict IN (SELECT id FROM verdicts WHERE source = 'traffic')
    SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1;
ALTER TABLE signals
    UPDATE source = 'stream' WHERE source = 'probe' AND verdict IN (SELECT id FROM verdicts WHERE source = 'stream')
    SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1;

-- How many verdicts of each kind, and when the last one was.
DROP VIEW IF EXISTS verdicts_hourly_view;
DROP VIEW IF EXISTS verdicts_daily_view;

CREATE TABLE IF NOT EXISTS verdicts_hourly
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    probe LowCardinality(String),
    stratum LowCardinality(String),
    model LowCardinality(String),
    shape LowCardinality(String),
    source LowCardinality(String),
    scheduled Bool,
    outcome LowCardinality(String),
    class LowCardinality(String),
    number SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
PRIMARY KEY (target, at)
ORDER BY (target, at, probe, stratum, model, shape, source, scheduled, outcome, class)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS verdicts_daily
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    probe LowCardinality(String),
    stratum LowCardinality(String),
    model LowCardinality(String),
    shape LowCardinality(String),
    source LowCardinality(String),
    scheduled Bool,
    outcome LowCardinality(String),
    class LowCardinality(String),
    number SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
PRIMARY KEY (target, at)
ORDER BY (target, at, probe, stratum, model, shape, source, scheduled, outcome, class)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

TRUNCATE TABLE IF EXISTS verdicts_hourly;
TRUNCATE TABLE IF EXISTS verdicts_daily;

INSERT INTO verdicts_hourly (at, target, probe, stratum, model, shape, source, scheduled, outcome, class, number, last_at)
SELECT
    toStartOfHour(b.decided_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.model AS model,
    b.shape AS shape,
    b.source AS source,
    b.scheduled AS scheduled,
    b.outcome AS outcome,
    b.class AS class,
    count() AS number,
    max(b.decided_at) AS last_at
FROM verdicts AS b FINAL
GROUP BY at, target, probe, stratum, model, shape, source, scheduled, outcome, class
SETTINGS insert_deduplicate = 0;

INSERT INTO verdicts_daily (at, target, probe, stratum, model, shape, source, scheduled, outcome, class, number, last_at)
SELECT toStartOfDay(at), target, probe, stratum, model, shape, source, scheduled, outcome, class, number, last_at
FROM verdicts_hourly
SETTINGS insert_deduplicate = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS verdicts_hourly_view TO verdicts_hourly AS
SELECT
    toStartOfHour(b.decided_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.model AS model,
    b.shape AS shape,
    b.source AS source,
    b.scheduled AS scheduled,
    b.outcome AS outcome,
    b.class AS class,
    count() AS number,
    max(b.decided_at) AS last_at
FROM verdicts AS b
GROUP BY at, target, probe, stratum, model, shape, source, scheduled, outcome, class;

CREATE MATERIALIZED VIEW IF NOT EXISTS verdicts_daily_view TO verdicts_daily AS
SELECT
    toStartOfDay(b.decided_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.model AS model,
    b.shape AS shape,
    b.source AS source,
    b.scheduled AS scheduled,
    b.outcome AS outcome,
    b.class AS class,
    count() AS number,
    max(b.decided_at) AS last_at
FROM verdicts AS b
GROUP BY at, target, probe, stratum, model, shape, source, scheduled, outcome, class;

-- What SLIs count: scheduled exchanges that count, by what came of them.
DROP VIEW IF EXISTS exchange_verdicts_hourly_view;
DROP VIEW IF EXISTS exchange_verdicts_daily_view;

CREATE TABLE IF NOT EXISTS exchange_verdicts_hourly
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    probe LowCardinality(String),
    stratum LowCardinality(String),
    model LowCardinality(String),
    shape LowCardinality(String),
    source LowCardinality(String),
    scheduled Bool,
    counted Bool,
    outcome LowCardinality(String),
    class LowCardinality(String),
    hard Bool,
    tolerated Bool,
    number SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
PRIMARY KEY (target, at)
ORDER BY (target, at, probe, stratum, model, shape, source, scheduled, counted, outcome, class, hard, tolerated)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS exchange_verdicts_daily
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    probe LowCardinality(String),
    stratum LowCardinality(String),
    model LowCardinality(String),
    shape LowCardinality(String),
    source LowCardinality(String),
    scheduled Bool,
    counted Bool,
    outcome LowCardinality(String),
    class LowCardinality(String),
    hard Bool,
    tolerated Bool,
    number SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
PRIMARY KEY (target, at)
ORDER BY (target, at, probe, stratum, model, shape, source, scheduled, counted, outcome, class, hard, tolerated)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

TRUNCATE TABLE IF EXISTS exchange_verdicts_hourly;
TRUNCATE TABLE IF EXISTS exchange_verdicts_daily;

INSERT INTO exchange_verdicts_hourly (at, target, probe, stratum, model, shape, source, scheduled, counted, outcome, class, hard, tolerated, number)
SELECT
    toStartOfHour(b.decided_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.model AS model,
    b.shape AS shape,
    b.source AS source,
    b.scheduled AS scheduled,
    b.counted AS counted,
    b.outcome AS outcome,
    b.class AS class,
    b.hard AS hard,
    b.tolerated AS tolerated,
    count() AS number
FROM exchange_verdicts AS b FINAL
GROUP BY at, target, probe, stratum, model, shape, source, scheduled, counted, outcome, class, hard, tolerated
SETTINGS insert_deduplicate = 0;

INSERT INTO exchange_verdicts_daily (at, target, probe, stratum, model, shape, source, scheduled, counted, outcome, class, hard, tolerated, number)
SELECT toStartOfDay(at), target, probe, stratum, model, shape, source, scheduled, counted, outcome, class, hard, tolerated, number
FROM exchange_verdicts_hourly
SETTINGS insert_deduplicate = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS exchange_verdicts_hourly_view TO exchange_verdicts_hourly AS
SELECT
    toStartOfHour(b.decided_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.model AS model,
    b.shape AS shape,
    b.source AS source,
    b.scheduled AS scheduled,
    b.counted AS counted,
    b.outcome AS outcome,
    b.class AS class,
    b.hard AS hard,
    b.tolerated AS tolerated,
    count() AS number
FROM exchange_verdicts AS b
GROUP BY at, target, probe, stratum, model, shape, source, scheduled, counted, outcome, class, hard, tolerated;

CREATE MATERIALIZED VIEW IF NOT EXISTS exchange_verdicts_daily_view TO exchange_verdicts_daily AS
SELECT
    toStartOfDay(b.decided_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.model AS model,
    b.shape AS shape,
    b.source AS source,
    b.scheduled AS scheduled,
    b.counted AS counted,
    b.outcome AS outcome,
    b.class AS class,
    b.hard AS hard,
    b.tolerated AS tolerated,
    count() AS number
FROM exchange_verdicts AS b
GROUP BY at, target, probe, stratum, model, shape, source, scheduled, counted, outcome, class, hard, tolerated;

-- What status codes, clocks and usage said. Quantiles are of sketches, which come out the same in
-- whatever order they are added: from 1 % too small to 3 % too large. A target may report any number
-- of tokens: a billion is the most of one exchange that is added. Status 0 is none.
DROP VIEW IF EXISTS exchanges_hourly_view;
DROP VIEW IF EXISTS exchanges_daily_view;

CREATE TABLE IF NOT EXISTS exchanges_hourly
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    probe LowCardinality(String),
    stratum LowCardinality(String),
    part LowCardinality(String),
    http_status Int64,
    failure LowCardinality(String),
    number SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    total_seconds AggregateFunction(quantilesDD(0.01, 0.5, 0.95, 0.99), Float64) CODEC(ZSTD(1)),
    first_token_seconds AggregateFunction(quantilesDD(0.01, 0.5, 0.95, 0.99), Nullable(Float64)) CODEC(ZSTD(1)),
    input_tokens SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    output_tokens SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    cached_tokens SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
PRIMARY KEY (target, at)
ORDER BY (target, at, probe, stratum, part, http_status, failure)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS exchanges_daily
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    probe LowCardinality(String),
    stratum LowCardinality(String),
    part LowCardinality(String),
    http_status Int64,
    failure LowCardinality(String),
    number SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    total_seconds AggregateFunction(quantilesDD(0.01, 0.5, 0.95, 0.99), Float64) CODEC(ZSTD(1)),
    first_token_seconds AggregateFunction(quantilesDD(0.01, 0.5, 0.95, 0.99), Nullable(Float64)) CODEC(ZSTD(1)),
    input_tokens SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    output_tokens SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    cached_tokens SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
PRIMARY KEY (target, at)
ORDER BY (target, at, probe, stratum, part, http_status, failure)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

TRUNCATE TABLE IF EXISTS exchanges_hourly;
TRUNCATE TABLE IF EXISTS exchanges_daily;

INSERT INTO exchanges_hourly (at, target, probe, stratum, part, http_status, failure, number, total_seconds, first_token_seconds, input_tokens, output_tokens, cached_tokens)
SELECT
    toStartOfHour(b.started_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.part AS part,
    ifNull(b.http_status, 0) AS http_status,
    b.failure AS failure,
    count() AS number,
    quantilesDDState(0.01, 0.5, 0.95, 0.99)(b.total_seconds) AS total_seconds,
    quantilesDDState(0.01, 0.5, 0.95, 0.99)(b.first_token_seconds) AS first_token_seconds,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.input_tokens, 0))))) AS input_tokens,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.output_tokens, 0))))) AS output_tokens,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.cached_tokens, 0))))) AS cached_tokens
FROM exchanges AS b FINAL
GROUP BY at, target, probe, stratum, part, http_status, failure
SETTINGS insert_deduplicate = 0;

INSERT INTO exchanges_daily (at, target, probe, stratum, part, http_status, failure, number, total_seconds, first_token_seconds, input_tokens, output_tokens, cached_tokens)
SELECT toStartOfDay(at), target, probe, stratum, part, http_status, failure, number, total_seconds, first_token_seconds, input_tokens, output_tokens, cached_tokens
FROM exchanges_hourly
SETTINGS insert_deduplicate = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS exchanges_hourly_view TO exchanges_hourly AS
SELECT
    toStartOfHour(b.started_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.part AS part,
    ifNull(b.http_status, 0) AS http_status,
    b.failure AS failure,
    count() AS number,
    quantilesDDState(0.01, 0.5, 0.95, 0.99)(b.total_seconds) AS total_seconds,
    quantilesDDState(0.01, 0.5, 0.95, 0.99)(b.first_token_seconds) AS first_token_seconds,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.input_tokens, 0))))) AS input_tokens,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.output_tokens, 0))))) AS output_tokens,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.cached_tokens, 0))))) AS cached_tokens
FROM exchanges AS b
GROUP BY at, target, probe, stratum, part, http_status, failure;

CREATE MATERIALIZED VIEW IF NOT EXISTS exchanges_daily_view TO exchanges_daily AS
SELECT
    toStartOfDay(b.started_at) AS at,
    b.target AS target,
    b.probe AS probe,
    b.stratum AS stratum,
    b.part AS part,
    ifNull(b.http_status, 0) AS http_status,
    b.failure AS failure,
    count() AS number,
    quantilesDDState(0.01, 0.5, 0.95, 0.99)(b.total_seconds) AS total_seconds,
    quantilesDDState(0.01, 0.5, 0.95, 0.99)(b.first_token_seconds) AS first_token_seconds,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.input_tokens, 0))))) AS input_tokens,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.output_tokens, 0))))) AS output_tokens,
    sum(toUInt64(greatest(0, least(1000000000, ifNull(b.cached_tokens, 0))))) AS cached_tokens
FROM exchanges AS b
GROUP BY at, target, probe, stratum, part, http_status, failure;

-- What each check said how often, and the most evidence it had; an owner only where a text had one.
DROP VIEW IF EXISTS signals_hourly_view;
DROP VIEW IF EXISTS signals_daily_view;

CREATE TABLE IF NOT EXISTS signals_hourly
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    code LowCardinality(String),
    variant LowCardinality(String),
    status LowCardinality(String),
    source LowCardinality(String),
    owner_target LowCardinality(String),
    owner_tenant LowCardinality(String),
    number SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    evidence_bits SimpleAggregateFunction(max, Nullable(Float64))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
PRIMARY KEY (target, at)
ORDER BY (target, at, code, variant, status, source, owner_target, owner_tenant)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS signals_daily
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    code LowCardinality(String),
    variant LowCardinality(String),
    status LowCardinality(String),
    source LowCardinality(String),
    owner_target LowCardinality(String),
    owner_tenant LowCardinality(String),
    number SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    evidence_bits SimpleAggregateFunction(max, Nullable(Float64))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
PRIMARY KEY (target, at)
ORDER BY (target, at, code, variant, status, source, owner_target, owner_tenant)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

TRUNCATE TABLE IF EXISTS signals_hourly;
TRUNCATE TABLE IF EXISTS signals_daily;

INSERT INTO signals_hourly (at, target, code, variant, status, source, owner_target, owner_tenant, number, evidence_bits)
SELECT
    toStartOfHour(b.decided_at) AS at,
    b.target AS target,
    b.code AS code,
    b.variant AS variant,
    b.status AS status,
    b.source AS source,
    b.owner_target AS owner_target,
    b.owner_tenant AS owner_tenant,
    count() AS number,
    max(b.evidence_bits) AS evidence_bits
FROM signals AS b FINAL
GROUP BY at, target, code, variant, status, source, owner_target, owner_tenant
SETTINGS insert_deduplicate = 0;

INSERT INTO signals_daily (at, target, code, variant, status, source, owner_target, owner_tenant, number, evidence_bits)
SELECT toStartOfDay(at), target, code, variant, status, source, owner_target, owner_tenant, number, evidence_bits
FROM signals_hourly
SETTINGS insert_deduplicate = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS signals_hourly_view TO signals_hourly AS
SELECT
    toStartOfHour(b.decided_at) AS at,
    b.target AS target,
    b.code AS code,
    b.variant AS variant,
    b.status AS status,
    b.source AS source,
    b.owner_target AS owner_target,
    b.owner_tenant AS owner_tenant,
    count() AS number,
    max(b.evidence_bits) AS evidence_bits
FROM signals AS b
GROUP BY at, target, code, variant, status, source, owner_target, owner_tenant;

CREATE MATERIALIZED VIEW IF NOT EXISTS signals_daily_view TO signals_daily AS
SELECT
    toStartOfDay(b.decided_at) AS at,
    b.target AS target,
    b.code AS code,
    b.variant AS variant,
    b.status AS status,
    b.source AS source,
    b.owner_target AS owner_target,
    b.owner_tenant AS owner_tenant,
    count() AS number,
    max(b.evidence_bits) AS evidence_bits
FROM signals AS b
GROUP BY at, target, code, variant, status, source, owner_target, owner_tenant;

-- What probing spent, as it came to. A reservation adds one to open, and what it came to takes it
-- away again: what stays open was sent by a process that died, and is charged by the estimate.
DROP VIEW IF EXISTS budget_daily_view;

CREATE TABLE IF NOT EXISTS budget_daily
(
    at DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    budget LowCardinality(String),
    settled SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    open SimpleAggregateFunction(sum, Int64) CODEC(T64, ZSTD(1)),
    settled_tokens SimpleAggregateFunction(sum, Int64) CODEC(T64, ZSTD(1)),
    settled_usd SimpleAggregateFunction(sum, Float64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (target, at, budget)
TTL at + toIntervalDay(1100) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

TRUNCATE TABLE IF EXISTS budget_daily;

-- FINAL leaves of each reservation what it came to, or itself while it is open.
INSERT INTO budget_daily (at, target, budget, settled, open, settled_tokens, settled_usd)
SELECT
    toDateTime(b.day, 'UTC') AS at,
    b.target AS target,
    b.budget AS budget,
    countIf(b.version = 1) AS settled,
    toInt64(countIf(b.version = 0)) AS open,
    sumIf(b.tokens, b.version = 1) AS settled_tokens,
    sumIf(b.usd, b.version = 1) AS settled_usd
FROM budget_spent AS b FINAL
GROUP BY at, target, budget
SETTINGS insert_deduplicate = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS budget_daily_view TO budget_daily AS
SELECT
    toDateTime(b.day, 'UTC') AS at,
    b.target AS target,
    b.budget AS budget,
    countIf(b.version = 1) AS settled,
    toInt64(countIf(b.version = 0)) - toInt64(countIf(b.version = 1)) AS open,
    sumIf(b.tokens, b.version = 1) AS settled_tokens,
    sumIf(b.usd, b.version = 1) AS settled_usd
FROM budget_spent AS b
GROUP BY at, target, budget;
