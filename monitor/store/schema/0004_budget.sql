-- A reservation is written before its trial is sent (version 0) and again with what it cost (1),
-- so a process that dies in between has spent all it reserved.

CREATE TABLE IF NOT EXISTS budget_spent
(
    reservation String CODEC(ZSTD(1)),
    version UInt64,
    day Date,
    target LowCardinality(String),
    budget LowCardinality(String),
    tokens Int64,
    usd Float64,
    changed_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY day
ORDER BY (target, budget, reservation);
