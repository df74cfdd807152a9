-- One row a change; the row with the highest version is the finding as it stands.

CREATE TABLE IF NOT EXISTS findings
(
    id String CODEC(ZSTD(1)),
    version UInt64,
    target LowCardinality(String),
    shape LowCardinality(String),
    stratum LowCardinality(String),
    class LowCardinality(String),
    opened_class LowCardinality(String),
    state LowCardinality(String),
    first_seen DateTime64(3, 'UTC'),
    last_seen DateTime64(3, 'UTC'),
    count UInt64,
    confirmations UInt32,
    children Array(String),
    trials Array(String),
    who String CODEC(ZSTD(3)),
    why String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(first_seen)
ORDER BY (target, id);
