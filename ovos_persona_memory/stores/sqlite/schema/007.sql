-- Facts: what people said about themselves. Their texts, things and values are in `body`; a place (what a fact
-- is about) and words are known by a hash. Only active facts have words here.
CREATE TABLE fact (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    place_hash INTEGER NOT NULL,
    body INTEGER NOT NULL,
    slot TEXT,
    lang TEXT,
    confidence REAL NOT NULL,
    decay TEXT NOT NULL,
    created_at REAL NOT NULL,
    last_seen_at REAL NOT NULL,
    valid_from REAL NOT NULL,
    valid_until REAL,
    status TEXT NOT NULL,
    superseded_by TEXT,
    turn_id TEXT,
    session_id TEXT,
    persona_id TEXT,
    site_id TEXT,
    task_id TEXT,
    trust TEXT NOT NULL,
    private INTEGER NOT NULL
);
CREATE INDEX fact_place ON fact (user_id, place_hash);
CREATE INDEX fact_said ON fact (user_id, status, last_seen_at, seq);
CREATE INDEX fact_turn ON fact (turn_id) WHERE turn_id IS NOT NULL;
CREATE TABLE fact_word (
    hash INTEGER NOT NULL,
    fact INTEGER NOT NULL,
    PRIMARY KEY (hash, fact)
) WITHOUT ROWID;
CREATE INDEX fact_word_fact ON fact_word (fact);
CREATE TABLE fact_change (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    fact_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    what TEXT NOT NULL,
    at REAL NOT NULL,
    turn_id TEXT,
    body INTEGER
);
CREATE INDEX fact_change_fact ON fact_change (fact_id);
CREATE TABLE decision (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    at REAL NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    turn_id TEXT,
    fact_id TEXT,
    slot TEXT
);
