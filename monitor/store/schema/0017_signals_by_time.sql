-- Signals of one verdict stand together, no longer those of one check: a verdict has dozens, and its
-- ids are then kept once instead of once a check. A busy store holds them in a quarter of the bytes,
-- and a verdict is read from one place. What counts by check reads the sums.
--
-- The copy is made anew until it has taken the table's place, so that this may be broken off
-- anywhere and begun again. Nothing else may write meanwhile. The copy has no term yet: a default
-- one could end rows that are configured to stay; terms are put in force after migrations.

DROP VIEW IF EXISTS signals_hourly_view;
DROP VIEW IF EXISTS signals_daily_view;

DROP TABLE IF EXISTS signals_by_time SYNC;

CREATE TABLE IF NOT EXISTS signals_by_time AS signals
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(decided_at)
ORDER BY (target, decided_at, verdict, position)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

INSERT INTO signals_by_time SELECT * FROM signals SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0;

EXCHANGE TABLES signals AND signals_by_time;

DROP TABLE IF EXISTS signals_by_time SYNC;

CREATE MATERIALIZED VIEW IF NOT EXISTS signals_hourly_view TO signals_hourly AS
SELECT
    toStartOfHour(b.decided_at) AS at,
    b.target AS target,
    b.code AS code,
    b.variant AS variant,
    b.status AS status,
    b.source AS source,
    b.owner_target AS owner_target,
    b.owner_tenant AS owner_tenant,
    count() AS number,
    max(b.evidence_bits) AS evidence_bits
FROM signals AS b
GROUP BY at, target, code, variant, status, source, owner_target, owner_tenant;

CREATE MATERIALIZED VIEW IF NOT EXISTS signals_daily_view TO signals_daily AS
SELECT
    toStartOfDay(b.decided_at) AS at,
    b.target AS target,
    b.code AS code,
    b.variant AS variant,
    b.status AS status,
    b.source AS source,
    b.owner_target AS owner_target,
    b.owner_tenant AS owner_tenant,
    count() AS number,
    max(b.evidence_bits) AS evidence_bits
FROM signals AS b
GROUP BY at, target, code, variant, status, source, owner_target, owner_tenant;
