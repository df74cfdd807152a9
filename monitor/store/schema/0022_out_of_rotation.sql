-- When the target of a finding was taken out of rotation, and when it was put back, as somebody told:
-- who did, and why. Of findings from before nobody did.

ALTER TABLE findings ADD COLUMN IF NOT EXISTS out_of_rotation_at Nullable(DateTime64(3, 'UTC'));

ALTER TABLE findings ADD COLUMN IF NOT EXISTS back_in_rotation_at Nullable(DateTime64(3, 'UTC'));

ALTER TABLE findings ADD COLUMN IF NOT EXISTS rotation_by String CODEC(ZSTD(3));

ALTER TABLE findings ADD COLUMN IF NOT EXISTS rotation_why String CODEC(ZSTD(3));

ALTER TABLE finding_changes ADD COLUMN IF NOT EXISTS out_of_rotation_at Nullable(DateTime64(3, 'UTC'));

ALTER TABLE finding_changes ADD COLUMN IF NOT EXISTS back_in_rotation_at Nullable(DateTime64(3, 'UTC'));

ALTER TABLE finding_changes ADD COLUMN IF NOT EXISTS rotation_by String CODEC(ZSTD(3));

ALTER TABLE finding_changes ADD COLUMN IF NOT EXISTS rotation_why String CODEC(ZSTD(3));
