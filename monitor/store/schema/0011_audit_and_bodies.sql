-- What people and the monitor did, each link holding the hash of the one before; and what was
-- said, if that is wanted at all: sealed to a key that is not here, in a table of its own.

CREATE TABLE IF NOT EXISTS audit_log
(
    seq UInt64,
    at DateTime64(3, 'UTC'),
    actor String CODEC(ZSTD(3)),
    action LowCardinality(String),
    object String CODEC(ZSTD(3)),
    details String CODEC(ZSTD(3)),
    previous String CODEC(NONE),
    hash String CODEC(NONE)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(at)
ORDER BY (seq, hash)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS bodies
(
    trial String CODEC(ZSTD(1)),
    exchange UInt32,
    target LowCardinality(String),
    tenant LowCardinality(String),
    stored_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    key_id LowCardinality(String),
    sealed String CODEC(NONE),
    held Bool DEFAULT false,
    INDEX by_trial trial TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(stored_at)
ORDER BY (target, stored_at, trial, exchange)
TTL toDateTime(stored_at) + toIntervalDay(7) DELETE WHERE NOT held
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
