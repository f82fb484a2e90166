-- How surely its user must be known to whom a memory is given, 0 to 5: the metadata's `private`.
ALTER TABLE entry ADD COLUMN private INTEGER NOT NULL DEFAULT 0;
