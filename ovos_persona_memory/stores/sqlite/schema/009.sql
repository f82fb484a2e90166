-- Keyed hashes of what was forgotten, and of requests that were carried out: no text, in any form.
CREATE TABLE ledger (list INTEGER NOT NULL, hash INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (list, hash)) WITHOUT ROWID;
-- The turn in which somebody asked to have it remembered.
ALTER TABLE entry ADD COLUMN turn_id TEXT;
