-- What the schedule must not forget: runs that were missed, and changes of a target that raise
-- the rates of the day after them.

CREATE TABLE IF NOT EXISTS schedule_events
(
    id String CODEC(ZSTD(1)),
    at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    probe LowCardinality(String),
    kind LowCardinality(String),
    count UInt32
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(at)
ORDER BY (target, kind, at, id);
