-- Trials that confirm a finding, how often that gave the fault again, and exchanges that do not
-- count because they were broken off on purpose.

ALTER TABLE trials ADD COLUMN IF NOT EXISTS confirms String DEFAULT '' CODEC(ZSTD(1));

ALTER TABLE findings ADD COLUMN IF NOT EXISTS reproduced UInt32 DEFAULT 0;

ALTER TABLE exchange_verdicts ADD COLUMN IF NOT EXISTS counted Bool DEFAULT true;
