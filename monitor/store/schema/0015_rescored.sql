-- A verdict of a trial that was judged again names the one it was given first.

ALTER TABLE verdicts ADD COLUMN IF NOT EXISTS rescores String DEFAULT '' CODEC(ZSTD(1));
