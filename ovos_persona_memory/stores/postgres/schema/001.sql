-- Every key leads with household and user: a distributed PostgreSQL can keep what belongs together on one node.
-- What belongs to nobody in particular has the user ''. Numbers (seq, num, version) come from one sequence; they
-- follow the order of commits within a household, since its writers take turns (a lock that each transaction takes).
CREATE SEQUENCE persona_memory_order AS bigint;
CREATE TABLE turn (
    household text NOT NULL,
    user_id text NOT NULL,
    seq bigint NOT NULL,
    id text NOT NULL,
    at double precision NOT NULL,
    role text NOT NULL,
    lang text,
    utterance_id text,
    source text NOT NULL,
    skill_id text,
    batch text,
    tool_call_id text,
    session_id text,
    persona_id text,
    site_id text,
    task_id text,
    expects_reply boolean NOT NULL,
    announcement boolean NOT NULL,
    machine boolean NOT NULL,
    linked boolean NOT NULL,
    redacted boolean NOT NULL,
    version bigint NOT NULL,
    text text NOT NULL,
    words text NOT NULL,
    speaker text,
    name text,
    data text,
    PRIMARY KEY (household, user_id, seq)
);
CREATE UNIQUE INDEX turn_id ON turn (household, id);
CREATE INDEX turn_seq ON turn (household, seq);
CREATE INDEX turn_at ON turn (household, user_id, at);
CREATE INDEX turn_session ON turn (household, user_id, session_id, seq);
CREATE INDEX turn_site ON turn (household, user_id, site_id, seq) WHERE site_id IS NOT NULL;
CREATE INDEX turn_task ON turn (household, user_id, task_id, seq) WHERE task_id IS NOT NULL;
CREATE INDEX turn_version ON turn (household, version);
CREATE TABLE entry (
    household text NOT NULL,
    user_id text NOT NULL,
    seq bigint NOT NULL,
    key text NOT NULL,
    id text NOT NULL,
    lang text,
    created_at double precision NOT NULL,
    updated_at double precision NOT NULL,
    turn_id text,
    session_id text,
    persona_id text,
    site_id text,
    task_id text,
    private smallint NOT NULL,
    version bigint NOT NULL,
    text text NOT NULL,
    words text NOT NULL,
    data text,
    PRIMARY KEY (household, user_id, seq)
);
CREATE UNIQUE INDEX entry_key ON entry (household, user_id, md5(key));
CREATE INDEX entry_changed ON entry (household, user_id, updated_at, seq);
CREATE INDEX entry_version ON entry (household, version);
-- Words by hash, of each person by themselves: how many documents hold one, and which; a document is a turn by its
-- seq, or a memory by minus its seq. Turns with a seq above that in `entered` wait: their words are only in the turn.
CREATE TABLE person (
    household text NOT NULL,
    user_id text NOT NULL,
    documents bigint NOT NULL,
    words bigint NOT NULL,
    PRIMARY KEY (household, user_id)
);
CREATE TABLE word (
    household text NOT NULL,
    user_id text NOT NULL,
    hash bigint NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (household, user_id, hash)
) WITH (fillfactor = 70);
CREATE TABLE posting (
    household text NOT NULL,
    user_id text NOT NULL,
    hash bigint NOT NULL,
    doc bigint NOT NULL,
    times integer NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (household, user_id, hash, doc) INCLUDE (times, length)
);
CREATE TABLE entered (
    household text NOT NULL,
    user_id text NOT NULL DEFAULT '',
    seq bigint NOT NULL,
    PRIMARY KEY (household, user_id)
);
CREATE TABLE language (
    household text NOT NULL,
    user_id text NOT NULL,
    lang text NOT NULL,
    PRIMARY KEY (household, user_id, lang)
);
CREATE TABLE note (
    household text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    seq bigint NOT NULL,
    summary text NOT NULL,
    description text NOT NULL,
    trimmed_to bigint NOT NULL,
    updated_at double precision NOT NULL,
    PRIMARY KEY (household, user_id, session_id)
);
CREATE TABLE pause (
    household text NOT NULL,
    user_id text NOT NULL DEFAULT '',
    kind text NOT NULL,
    name text NOT NULL,
    since double precision NOT NULL,
    until double precision,
    may_write boolean NOT NULL,
    may_read boolean NOT NULL,
    PRIMARY KEY (household, user_id, kind, name, since)
);
CREATE TABLE state (
    household text NOT NULL,
    user_id text NOT NULL DEFAULT '',
    name text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (household, user_id, name)
);
CREATE TABLE ledger (
    household text NOT NULL,
    user_id text NOT NULL DEFAULT '',
    list text NOT NULL,
    hash bigint NOT NULL,
    at double precision NOT NULL,
    PRIMARY KEY (household, user_id, list, hash)
);
CREATE TABLE fact (
    household text NOT NULL,
    user_id text NOT NULL,
    seq bigint NOT NULL,
    id text NOT NULL,
    slot text,
    lang text,
    confidence double precision NOT NULL,
    decay text NOT NULL,
    created_at double precision NOT NULL,
    last_seen_at double precision NOT NULL,
    valid_from double precision NOT NULL,
    valid_until double precision,
    status text NOT NULL,
    superseded_by text,
    turn_id text,
    session_id text,
    persona_id text,
    site_id text,
    task_id text,
    trust text NOT NULL,
    private smallint NOT NULL,
    place text NOT NULL,
    text text NOT NULL,
    words text NOT NULL,
    speaker text,
    data text NOT NULL,
    PRIMARY KEY (household, user_id, seq)
);
CREATE UNIQUE INDEX fact_id ON fact (household, id);
CREATE INDEX fact_place ON fact (household, user_id, md5(place), valid_from, seq);
CREATE INDEX fact_turn ON fact (household, turn_id) WHERE turn_id IS NOT NULL;
CREATE TABLE fact_change (
    household text NOT NULL,
    user_id text NOT NULL,
    num bigint NOT NULL,
    fact_id text NOT NULL,
    what text NOT NULL,
    at double precision NOT NULL,
    turn_id text,
    old text,
    new text,
    PRIMARY KEY (household, user_id, num)
);
CREATE INDEX fact_change_fact ON fact_change (household, fact_id);
CREATE TABLE decision (
    household text NOT NULL,
    user_id text NOT NULL,
    num bigint NOT NULL,
    outcome text NOT NULL,
    reason text NOT NULL,
    at double precision NOT NULL,
    turn_id text,
    fact_id text,
    slot text,
    PRIMARY KEY (household, user_id, num)
);
CREATE INDEX decision_num ON decision (household, num);
CREATE TABLE episode (
    household text NOT NULL,
    user_id text NOT NULL,
    seq bigint NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    at double precision NOT NULL,
    session_id text,
    persona_id text,
    site_id text,
    utterance_id text,
    turn_id text,
    skill_id text,
    name text,
    outcome text,
    latency_ms double precision,
    words text NOT NULL,
    data text,
    used text[] NOT NULL,
    PRIMARY KEY (household, user_id, seq)
);
CREATE INDEX episode_id ON episode (household, id);
CREATE INDEX episode_at ON episode (household, user_id, at, seq);
CREATE INDEX episode_before ON episode (household, at);
CREATE INDEX episode_turn ON episode (household, turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX episode_utterance ON episode (household, utterance_id) WHERE utterance_id IS NOT NULL;
CREATE INDEX episode_used ON episode USING gin (used);
CREATE TABLE document (
    household text NOT NULL,
    user_id text NOT NULL,
    num bigint NOT NULL,
    namespace text NOT NULL,  -- a hash of its name
    id text NOT NULL,
    text text NOT NULL,
    words text NOT NULL,
    data text NOT NULL,
    dim integer,
    embedding bytea,
    updated_at double precision NOT NULL,
    PRIMARY KEY (household, user_id, num)
);
CREATE UNIQUE INDEX document_id ON document (household, user_id, namespace, md5(id));
CREATE INDEX document_num ON document (household, num);
-- Vectors are whole numbers from -127 to 127, which halfvec holds as they are. Each number of dimensions has an
-- index of its own, made when it is first needed (postgres_vectors.py).
CREATE TABLE vector_index (
    household text NOT NULL,
    user_id text NOT NULL DEFAULT '',
    name text NOT NULL,
    slot smallint NOT NULL,
    setting text NOT NULL,
    dim integer NOT NULL,
    done_to bigint NOT NULL,
    started bigint NOT NULL,
    PRIMARY KEY (household, user_id, name)
);
CREATE TABLE vector (
    household text NOT NULL,
    user_id text NOT NULL,
    slot smallint NOT NULL,
    kind text NOT NULL,
    doc bigint NOT NULL,
    version bigint NOT NULL,
    dim integer NOT NULL,
    vector halfvec NOT NULL,
    session_id text,
    persona_id text,
    site_id text,
    task_id text,
    private smallint NOT NULL,
    PRIMARY KEY (household, user_id, slot, kind, doc)
);
