-- Of a tool result: the tool failed. And of any turn: nothing is learned from it.
ALTER TABLE turn ADD COLUMN is_error INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN unlearned INTEGER NOT NULL DEFAULT 0;
