-- Turns that came in a crowd, of whichever daemon: something is still to be learned from them. Whoever learns from one
-- takes its row away in the same transaction. No text: that is in the turn.
CREATE TABLE unlearned (
    household text NOT NULL,
    user_id text NOT NULL DEFAULT '',
    seq bigint NOT NULL,
    id text NOT NULL,
    child boolean NOT NULL,
    PRIMARY KEY (household, user_id, seq)
);
