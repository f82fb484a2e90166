-- User, persona and key together name a memory: what belongs to no persona has an owner, too.
DROP INDEX entry_key;
CREATE UNIQUE INDEX entry_key ON entry (owner, key_hash, coalesce('=' || persona_id, ''));
-- draft, accepted or discard.
ALTER TABLE entry ADD COLUMN status TEXT NOT NULL DEFAULT 'accepted';
