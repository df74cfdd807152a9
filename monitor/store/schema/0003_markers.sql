-- Live markers are sealed under the installation key; expired ones keep hashes of their parts.

CREATE TABLE IF NOT EXISTS markers
(
    id String CODEC(ZSTD(1)),
    kind LowCardinality(String),
    target LowCardinality(String),
    tenant LowCardinality(String),
    isolation LowCardinality(String),
    trial String CODEC(ZSTD(1)),
    exchange UInt32,
    epoch LowCardinality(String),
    stratum_key LowCardinality(String),
    minted_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    expires_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    part_hashes Array(UInt64) CODEC(NONE),
    sealed String CODEC(NONE)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(minted_at)
ORDER BY (target, tenant, minted_at, id);
