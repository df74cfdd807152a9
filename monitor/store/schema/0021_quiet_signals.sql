-- Most signals passed or skipped and say nothing but why. They stand beside the judgement of their
-- exchange, one of each array for each, with their places among all signals of the verdict: a row
-- for each of them was nine rows in ten that the store wrote. Rows from before stay as they are, and
-- were counted when they came. Were arrays of one row ever of different lengths, joining them as they
-- are would refuse the whole block for ever, hence arrayResize.

ALTER TABLE exchange_verdicts ADD COLUMN IF NOT EXISTS quiet_positions Array(UInt32) CODEC(ZSTD(1));
ALTER TABLE exchange_verdicts ADD COLUMN IF NOT EXISTS quiet_codes Array(LowCardinality(String)) CODEC(ZSTD(1));
ALTER TABLE exchange_verdicts ADD COLUMN IF NOT EXISTS quiet_statuses Array(LowCardinality(String)) CODEC(ZSTD(1));
ALTER TABLE exchange_verdicts ADD COLUMN IF NOT EXISTS quiet_explanations Array(LowCardinality(String)) CODEC(ZSTD(1));

CREATE MATERIALIZED VIEW IF NOT EXISTS quiet_signals_hourly_view TO signals_hourly AS
SELECT
    toStartOfHour(b.decided_at) AS at,
    b.target AS target,
    code,
    status,
    b.source AS source,
    count() AS number
FROM exchange_verdicts AS b
ARRAY JOIN b.quiet_codes AS code, arrayResize(b.quiet_statuses, length(b.quiet_codes)) AS status
GROUP BY at, target, code, status, source;

CREATE MATERIALIZED VIEW IF NOT EXISTS quiet_signals_daily_view TO signals_daily AS
SELECT
    toStartOfDay(b.decided_at) AS at,
    b.target AS target,
    code,
    status,
    b.source AS source,
    count() AS number
FROM exchange_verdicts AS b
ARRAY JOIN b.quiet_codes AS code, arrayResize(b.quiet_statuses, length(b.quiet_codes)) AS status
GROUP BY at, target, code, status, source;
