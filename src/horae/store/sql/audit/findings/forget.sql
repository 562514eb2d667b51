-- :before :limit
-- Zero rows: nothing ended that long ago.
with gone as materialized (
    select f.ctid from fire_finding f
    where f.ended_at < :before
      and not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from fire_finding f using gone where f.ctid = gone.ctid
returning f.job_id
