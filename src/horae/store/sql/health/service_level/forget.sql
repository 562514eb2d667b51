-- :steps :oldest_times :limit
-- Zero rows: nothing is that old.
with old as materialized (
    select l.ctid
    from unnest(:steps::smallint[], :oldest_times::timestamptz[]) as s(step, oldest)
    join service_level l on l.step_minutes = s.step and l.begins_at < s.oldest
    limit :limit for update of l skip locked)
delete from service_level l using old where l.ctid = old.ctid
returning l.step_minutes
