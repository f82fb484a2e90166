-- User, persona and key together name a memory: what belongs to no persona has an owner, too.
DROP INDEX entry_key;
CREATE UNIQUE INDEX entry_key ON entry (household, user_id, md5(key), md5(coalesce('=' || persona_id, '')));
-- draft, accepted or discard; that of a memory stands beside its vector, too.
ALTER TABLE entry ADD COLUMN status text NOT NULL DEFAULT 'accepted';
ALTER TABLE vector ADD COLUMN status text NOT NULL DEFAULT 'accepted';
