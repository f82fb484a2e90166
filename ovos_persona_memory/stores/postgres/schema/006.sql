-- When the summary was written; 0: when the note was last changed.
ALTER TABLE note ADD COLUMN summarised_at double precision NOT NULL DEFAULT 0;
