-- A memory by its number alone, as turn_seq: a search in a persona or session looks each document up by it.
CREATE INDEX entry_seq ON entry (household, seq);
