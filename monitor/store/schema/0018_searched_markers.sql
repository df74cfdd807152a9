-- Net evidence depends on how much an answer was searched for: a verdict says how many markers and
-- planted values were known when it was judged.

ALTER TABLE verdicts ADD COLUMN IF NOT EXISTS markers UInt64 DEFAULT 0 CODEC(T64, ZSTD(1));
