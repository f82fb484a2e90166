-- Every text lives in `body`, whose rows are only ever appended, then emptied in place. Elsewhere in a
-- b-tree SQLite leaves copies of neighbouring rows behind when it splits or merges pages, and
-- secure_delete does not reach those (measured 2026-11-22, SQLite 3.40.1: 2 of 1200 deleted rows).
CREATE TABLE body (num INTEGER PRIMARY KEY, text TEXT, words TEXT, speaker TEXT, name TEXT, data TEXT);
CREATE TABLE owner (
    num INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL UNIQUE,
    documents INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE turn (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner INTEGER NOT NULL,
    body INTEGER NOT NULL,
    at REAL NOT NULL,
    role TEXT NOT NULL,
    lang TEXT,
    session_id TEXT,
    persona_id TEXT,
    site_id TEXT,
    task_id TEXT,
    utterance_id TEXT,
    source TEXT NOT NULL,
    skill_id TEXT,
    batch TEXT,
    tool_call_id TEXT,
    expects_reply INTEGER NOT NULL,
    announcement INTEGER NOT NULL,
    machine INTEGER NOT NULL,
    linked INTEGER NOT NULL,
    redacted INTEGER NOT NULL
);
CREATE INDEX turn_owner ON turn (owner);
CREATE INDEX turn_at ON turn (owner, at);
CREATE INDEX turn_session ON turn (owner, session_id, seq, at);
CREATE INDEX turn_persona ON turn (owner, session_id, persona_id);
CREATE INDEX turn_site ON turn (owner, site_id) WHERE site_id IS NOT NULL;
CREATE INDEX turn_task ON turn (owner, task_id) WHERE task_id IS NOT NULL;
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    key_hash INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    body INTEGER NOT NULL,
    id TEXT NOT NULL,
    session_id TEXT,
    persona_id TEXT,
    site_id TEXT,
    task_id TEXT,
    lang TEXT,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
);
CREATE UNIQUE INDEX entry_key ON entry (owner, key_hash);
CREATE INDEX entry_changed ON entry (owner, updated_at, seq);
-- A word is known by a hash, and each user's words are their own: no spelling is in the index.
CREATE TABLE word (num INTEGER PRIMARY KEY, hash INTEGER NOT NULL, owner INTEGER NOT NULL, n INTEGER NOT NULL);
CREATE UNIQUE INDEX word_hash ON word (hash, owner);
-- doc is a turn's seq, or minus an entry's seq.
CREATE TABLE posting (
    word INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    times INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (word, doc)
) WITHOUT ROWID;
CREATE TABLE state (name TEXT PRIMARY KEY, body INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE capture (
    everything INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    may_write INTEGER NOT NULL,
    may_read INTEGER NOT NULL,
    until REAL,
    PRIMARY KEY (everything, session_id)
) WITHOUT ROWID;
CREATE TABLE pending (what TEXT PRIMARY KEY) WITHOUT ROWID;
