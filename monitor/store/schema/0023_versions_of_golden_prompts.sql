-- Which version of a golden prompt an exchange asked: a digest of all that is asked and expected. Empty
-- where none was asked, and where one was asked before versions were kept.

ALTER TABLE exchanges ADD COLUMN IF NOT EXISTS golden_version LowCardinality(String);
