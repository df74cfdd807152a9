-- Evidence of a finding is held: it outlives its time until a person closes the finding.
-- A block that is written again is known by its token and changes nothing, here or in a view;
-- and what was acknowledged is on the disk. Settings have statements of their own: in a cluster
-- they are changed on every host, all else once.

ALTER TABLE trials ADD COLUMN IF NOT EXISTS held Bool DEFAULT false;
ALTER TABLE exchanges ADD COLUMN IF NOT EXISTS held Bool DEFAULT false;
ALTER TABLE verdicts ADD COLUMN IF NOT EXISTS held Bool DEFAULT false;
ALTER TABLE exchange_verdicts ADD COLUMN IF NOT EXISTS held Bool DEFAULT false;
ALTER TABLE signals ADD COLUMN IF NOT EXISTS held Bool DEFAULT false;

ALTER TABLE trials MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE exchanges MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE verdicts MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE exchange_verdicts MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE signals MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE findings MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE markers MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE budget_spent MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE schedule_events MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE context_ladders MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE context_rungs MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE calibrations MODIFY SETTING non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
