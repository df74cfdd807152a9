-- What was asked, what came back in numbers, and what was judged. Never a body.
-- Every table is replacing, keyed by ids, so that writing the same rows again changes nothing.

CREATE TABLE IF NOT EXISTS trials
(
    id String CODEC(ZSTD(1)),
    target LowCardinality(String),
    model LowCardinality(String),
    probe LowCardinality(String),
    shape LowCardinality(String),
    stratum LowCardinality(String),
    started_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    purpose String CODEC(ZSTD(3)),
    scheduled Bool,
    broken String CODEC(ZSTD(3)),
    INDEX by_id id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(started_at)
ORDER BY (target, probe, stratum, started_at, id);

CREATE TABLE IF NOT EXISTS exchanges
(
    trial String CODEC(ZSTD(1)),
    exchange UInt32,
    target LowCardinality(String),
    probe LowCardinality(String),
    stratum LowCardinality(String),
    part LowCardinality(String),
    tenant LowCardinality(String),
    isolation LowCardinality(String),
    started_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    total_seconds Float64 CODEC(Gorilla, ZSTD(1)),
    first_token_seconds Nullable(Float64),
    streamed Bool,
    request_characters UInt64 CODEC(T64, ZSTD(1)),
    request_hash String CODEC(ZSTD(1)),
    response_characters UInt64 CODEC(T64, ZSTD(1)),
    response_hash String CODEC(ZSTD(1)),
    reasoning_characters UInt64 CODEC(T64, ZSTD(1)),
    tool_calls UInt32,
    finish_reason LowCardinality(String),
    input_tokens Nullable(Int64),
    output_tokens Nullable(Int64),
    cached_tokens Nullable(Int64),
    reasoning_tokens Nullable(Int64),
    reported_model LowCardinality(String),
    response_id String CODEC(ZSTD(1)),
    request_id String CODEC(ZSTD(1)),
    system_fingerprint String CODEC(ZSTD(1)),
    protocol_faults Array(LowCardinality(String)),
    http_status Nullable(Int64),
    failure LowCardinality(String),
    failure_detail String CODEC(ZSTD(3)),
    failure_code Nullable(Int64),
    refused_limit_tokens Nullable(Int64),
    refused_prompt_tokens Nullable(Int64),
    golden LowCardinality(String),
    boundary LowCardinality(String),
    limit_tokens Nullable(Int64),
    limit_source LowCardinality(String),
    size_tokens Nullable(Int64),
    size_error_tokens Int64,
    INDEX by_trial trial TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(started_at)
ORDER BY (target, probe, stratum, started_at, trial, exchange);

CREATE TABLE IF NOT EXISTS verdicts
(
    id String CODEC(ZSTD(1)),
    source LowCardinality(String),
    trial String CODEC(ZSTD(1)),
    target LowCardinality(String),
    model LowCardinality(String),
    probe LowCardinality(String),
    shape LowCardinality(String),
    stratum LowCardinality(String),
    decided_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    outcome LowCardinality(String),
    class LowCardinality(String),
    reason String CODEC(ZSTD(3)),
    checks_version LowCardinality(String),
    scheduled Bool,
    finding String CODEC(ZSTD(1)),
    INDEX by_trial trial TYPE bloom_filter GRANULARITY 1,
    INDEX by_finding finding TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(decided_at)
ORDER BY (target, probe, stratum, decided_at, id);

CREATE TABLE IF NOT EXISTS exchange_verdicts
(
    verdict String CODEC(ZSTD(1)),
    trial String CODEC(ZSTD(1)),
    target LowCardinality(String),
    model LowCardinality(String),
    probe LowCardinality(String),
    shape LowCardinality(String),
    stratum LowCardinality(String),
    decided_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    exchange UInt32,
    outcome LowCardinality(String),
    class LowCardinality(String),
    reason String CODEC(ZSTD(3)),
    hard Bool,
    tolerated Bool,
    scheduled Bool,
    INDEX by_verdict verdict TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(decided_at)
ORDER BY (target, probe, stratum, decided_at, verdict, exchange);

-- Evidence is marker ids, places, lengths and keyed hashes; the place is in the answer.
CREATE TABLE IF NOT EXISTS signals
(
    verdict String CODEC(ZSTD(1)),
    position UInt32,
    trial String CODEC(ZSTD(1)),
    target LowCardinality(String),
    decided_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    exchange UInt32,
    code LowCardinality(String),
    variant LowCardinality(String),
    status LowCardinality(String),
    explanation String CODEC(ZSTD(3)),
    evidence_bits Nullable(Float64),
    score Nullable(Float64),
    marker String CODEC(ZSTD(1)),
    owned Bool,
    owner_target LowCardinality(String),
    owner_tenant LowCardinality(String),
    owner_isolation LowCardinality(String),
    owner_trial String CODEC(ZSTD(1)),
    owner_exchange Int64,
    owner_epoch LowCardinality(String),
    owner_stratum_key LowCardinality(String),
    span_starts Array(UInt64),
    span_ends Array(UInt64),
    span_hashes Array(String),
    INDEX by_verdict verdict TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(decided_at)
ORDER BY (target, code, decided_at, verdict, position);
