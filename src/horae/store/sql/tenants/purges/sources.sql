-- :limit :shard :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select o.ctid, o.shard_id, o.id from source o
    where o.shard_id = :shard and o.job_id = :job_id and o.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = o.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked),
rounds as (
    delete from source_round r using gone where r.shard_id = gone.shard_id and r.source_id = gone.id)
delete from source o using gone where o.ctid = gone.ctid
returning o.shard_id
