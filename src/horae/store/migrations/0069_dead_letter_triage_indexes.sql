-- migrate:up
-- without transaction

-- Open dead letters whose failure cause is not known yet.
drop index concurrently if exists dead_letter_without_cause;
create index concurrently dead_letter_without_cause on dead_letter (shard_id, instance_id)
where cause_id is null and replay_status in ('NEW', 'DEAD_AGAIN');

-- The dead letters of a paced replay.
drop index concurrently if exists dead_letter_paced;
create index concurrently dead_letter_paced on dead_letter (paced_replay_id) where paced_replay_id is not null;

-- migrate:down
drop index concurrently dead_letter_paced;
drop index concurrently dead_letter_without_cause;
