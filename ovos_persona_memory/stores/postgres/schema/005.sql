-- Of a tool result: the tool failed. And of any turn: nothing is learned from it.
ALTER TABLE turn ADD COLUMN is_error boolean NOT NULL DEFAULT false;
ALTER TABLE turn ADD COLUMN unlearned boolean NOT NULL DEFAULT false;
