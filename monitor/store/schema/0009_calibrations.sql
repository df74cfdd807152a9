-- What a healthy target was seen to do. The whole record is sealed under the installation key,
-- because it holds how answers began; the columns before it are for people and must agree with it.
-- Every record is kept; the newest one whose signature and subject hold counts.

CREATE TABLE IF NOT EXISTS calibrations
(
    id String CODEC(ZSTD(1)),
    target LowCardinality(String),
    model LowCardinality(String),
    made_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    made_by String CODEC(ZSTD(3)),
    reason String CODEC(ZSTD(3)),
    subject String CODEC(ZSTD(1)),
    checks_version LowCardinality(String),
    tolerance Float64,
    quarantined Array(String),
    sealed String CODEC(NONE),
    signature String CODEC(NONE)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(made_at)
ORDER BY (target, made_at, id);
