-- A dismissed finding may keep its twins from opening another for a time: by which signals a twin is
-- told, until when, and how many verdicts were kept out.

ALTER TABLE findings ADD COLUMN IF NOT EXISTS signals Array(LowCardinality(String));

ALTER TABLE findings ADD COLUMN IF NOT EXISTS suppressed_until Nullable(DateTime64(3, 'UTC'));

ALTER TABLE findings ADD COLUMN IF NOT EXISTS suppressed UInt64;

ALTER TABLE finding_changes ADD COLUMN IF NOT EXISTS suppressed_until Nullable(DateTime64(3, 'UTC'));

ALTER TABLE finding_changes ADD COLUMN IF NOT EXISTS suppressed UInt64;
