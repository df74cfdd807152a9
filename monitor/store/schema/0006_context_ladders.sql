-- What `context verify` measured: one row a run, and one a size that was tried.

CREATE TABLE IF NOT EXISTS context_ladders
(
    id String CODEC(ZSTD(1)),
    target LowCardinality(String),
    model LowCardinality(String),
    started_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    finished_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    verified_tokens Int64,
    verified_error_tokens Int64,
    failed_tokens Nullable(Int64),
    enforced_tokens Int64,
    advertised_tokens Int64,
    advertised_source LowCardinality(String),
    exit_code Int64,
    reason String CODEC(ZSTD(3)),
    spent_tokens Int64
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(started_at)
ORDER BY (target, started_at, id);

CREATE TABLE IF NOT EXISTS context_rungs
(
    ladder String CODEC(ZSTD(1)),
    position UInt32,
    target LowCardinality(String),
    started_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    asked_tokens Int64,
    size_tokens Int64,
    size_error_tokens Int64,
    cold Bool,
    outcome LowCardinality(String),
    class LowCardinality(String),
    trial String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(started_at)
ORDER BY (target, started_at, ladder, position);
