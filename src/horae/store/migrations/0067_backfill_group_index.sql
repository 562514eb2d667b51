-- migrate:up
-- without transaction

-- The parts of a backfill of many jobs.
drop index concurrently if exists backfill_group;
create index concurrently backfill_group on backfill (group_id) where group_id is not null;

-- migrate:down
drop index concurrently backfill_group;
