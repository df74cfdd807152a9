-- What is sealed is random, but written in base64: six bits in each eight. Markers and texts are the
-- largest tables, and a fifth to a quarter of them is saved. What is there already is written so
-- when it is merged.

ALTER TABLE markers MODIFY COLUMN sealed String CODEC(ZSTD(1));

ALTER TABLE markers MODIFY COLUMN part_hashes Array(UInt64) CODEC(ZSTD(1));

ALTER TABLE bodies MODIFY COLUMN sealed String CODEC(ZSTD(1));

ALTER TABLE calibrations MODIFY COLUMN sealed String CODEC(ZSTD(1));
