-- Up to which turn the words are entered in the index; those of newer turns wait in memory.
CREATE TABLE entered (turn INTEGER NOT NULL);
INSERT INTO entered SELECT coalesce(max(seq), 0) FROM turn;
