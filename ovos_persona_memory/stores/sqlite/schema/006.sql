-- When memory was or is switched off, and for what: also what is over, since records may be delivered late.
CREATE TABLE pause (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    since REAL NOT NULL,
    until REAL,
    may_write INTEGER NOT NULL,
    may_read INTEGER NOT NULL,
    PRIMARY KEY (kind, name, since)
) WITHOUT ROWID;
INSERT INTO pause
    SELECT CASE WHEN everything THEN 'everything' ELSE 'session' END, session_id, 0, until, may_write, may_read
    FROM capture WHERE NOT (may_write AND may_read);
DROP TABLE capture;
