-- The history of a finding: a row for each of its changes, for ever. In `findings` the versions are
-- merged into the newest; which strata and trials belong to it is there, here is how many they were.

ALTER TABLE findings ADD COLUMN IF NOT EXISTS changed_at DateTime64(3, 'UTC') DEFAULT last_seen;

CREATE TABLE IF NOT EXISTS finding_changes
(
    finding String CODEC(ZSTD(1)),
    version UInt64,
    changed_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    target LowCardinality(String),
    shape LowCardinality(String),
    stratum LowCardinality(String),
    class LowCardinality(String),
    state LowCardinality(String),
    last_seen DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    count UInt64,
    confirmations UInt32,
    reproduced UInt32,
    child_count UInt32,
    trial_count UInt32,
    who String CODEC(ZSTD(3)),
    why String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(changed_at)
ORDER BY (finding, version)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Versions of before that are not merged away yet. Nothing else may write meanwhile.
TRUNCATE TABLE IF EXISTS finding_changes;

INSERT INTO finding_changes (finding, version, changed_at, target, shape, stratum, class, state, last_seen, count, confirmations, reproduced, child_count, trial_count, who, why)
SELECT id, version, changed_at, target, shape, stratum, class, state, last_seen, count, confirmations, reproduced, length(children), length(trials), who, why
FROM findings
SETTINGS insert_deduplicate = 0;
