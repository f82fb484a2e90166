-- Vectors of turns and entries: one index answers, a second one may be under way beside it. `done_to` is the
-- highest body whose text has been taken up: a text that is new or changed always has a higher one.
CREATE TABLE vector_index (
    slot INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    setting TEXT NOT NULL,
    dim INTEGER NOT NULL,
    done_to INTEGER NOT NULL,
    started INTEGER NOT NULL
);
-- int8 [dim], only ever appended, then emptied in place as bodies are.
CREATE TABLE vector_0 (num INTEGER PRIMARY KEY, body INTEGER NOT NULL, vector BLOB);
CREATE INDEX vector_0_body ON vector_0 (body);
CREATE TABLE vector_1 (num INTEGER PRIMARY KEY, body INTEGER NOT NULL, vector BLOB);
CREATE INDEX vector_1_body ON vector_1 (body);
CREATE INDEX turn_body ON turn (body);
CREATE INDEX entry_body ON entry (body);
