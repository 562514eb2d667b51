-- migrate:up

-- Fires of a job whose overlap policy is not `allow`: few, and found by their job. All other rows pay nothing for it.
alter table instance_live add column exclusive boolean;
-- Over a small table in which no row has it yet: made in a moment.
create index instance_live_exclusive on instance_live (shard_id, job_id, id) where exclusive;

-- migrate:down
-- squawk-ignore ban-drop-column
alter table instance_live drop column exclusive;
