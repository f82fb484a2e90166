-- Episodes: what happened. Slots, arguments and errors are in `body`; of the turns they hold the ids alone.
CREATE TABLE episode (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at REAL NOT NULL,
    body INTEGER,
    session_id TEXT,
    persona_id TEXT,
    site_id TEXT,
    utterance_id TEXT,
    turn_id TEXT,
    skill_id TEXT,
    name TEXT,
    outcome TEXT,
    latency_ms REAL
);
CREATE INDEX episode_at ON episode (user_id, at);
CREATE INDEX episode_turn ON episode (turn_id) WHERE turn_id IS NOT NULL;
-- Which records a recall handed out.
CREATE TABLE episode_used (record TEXT NOT NULL, episode INTEGER NOT NULL, PRIMARY KEY (record, episode)) WITHOUT ROWID;
CREATE INDEX episode_used_in ON episode_used (episode);
