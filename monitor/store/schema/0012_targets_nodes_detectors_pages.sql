-- What is watched, what its nodes said, where evidence stands, and what was sent to whom.

CREATE TABLE IF NOT EXISTS targets
(
    name LowCardinality(String),
    seen_at DateTime64(3, 'UTC'),
    model LowCardinality(String),
    engine LowCardinality(String),
    origin String CODEC(ZSTD(1)),
    tenants Array(LowCardinality(String)),
    limit_tokens Nullable(Int64),
    limit_source LowCardinality(String),
    config_hash String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(seen_at)
ORDER BY (name, config_hash, seen_at)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS node_snapshots
(
    id String CODEC(ZSTD(1)),
    at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    node LowCardinality(String),
    target LowCardinality(String),
    engine LowCardinality(String),
    engine_version LowCardinality(String),
    role LowCardinality(String),
    conformity LowCardinality(String),
    capacity_tokens Nullable(Int64),
    used_tokens Nullable(Int64),
    enforced_tokens Nullable(Int64),
    advertised_tokens Nullable(Int64),
    failed_rules Array(LowCardinality(String)),
    warned_rules Array(LowCardinality(String)),
    unknown_rules Array(LowCardinality(String)),
    settings String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(at)
ORDER BY (node, at, id)
TTL toDateTime(at) + toIntervalDay(400) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS detector_states
(
    detector LowCardinality(String),
    target LowCardinality(String),
    probe LowCardinality(String),
    stratum LowCardinality(String),
    version UInt64,
    changed_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    evidence Float64,
    threshold Float64,
    alarmed_at Nullable(DateTime64(3, 'UTC')),
    state String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (target, probe, stratum, detector)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS pages_sent
(
    id String CODEC(ZSTD(1)),
    attempt UInt32,
    at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    finding String CODEC(ZSTD(1)),
    target LowCardinality(String),
    dedup_key String CODEC(ZSTD(1)),
    route LowCardinality(String),
    action LowCardinality(String),
    severity LowCardinality(String),
    outcome LowCardinality(String),
    http_status Nullable(Int64)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(at)
ORDER BY (target, at, id, attempt)
TTL toDateTime(at) + toIntervalDay(400) DELETE
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
