-- What is known of one thing, newest first, however often it has changed.
CREATE INDEX fact_place_time ON fact (user_id, place_hash, valid_from, seq);
DROP INDEX fact_place;
