-- Planted values are rows of the same table as codes: what a row is, and what its hashes are of.

ALTER TABLE markers
    COMMENT COLUMN IF EXISTS kind 'nonce or planted: a code; name, email, card, phone or account: a value';

ALTER TABLE markers
    COMMENT COLUMN IF EXISTS part_hashes 'of each group of a code; of a value whole, then of both its ends';
