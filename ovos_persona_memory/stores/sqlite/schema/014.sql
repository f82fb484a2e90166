-- When the summary was written; 0: when the note was last changed.
ALTER TABLE note ADD COLUMN summarised_at REAL NOT NULL DEFAULT 0;
