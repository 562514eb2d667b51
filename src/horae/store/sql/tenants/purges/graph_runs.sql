-- :limit :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select r.ctid, r.shard_id, r.id from graph_run r
    where r.job_id = :job_id and r.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = r.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked),
children as (
    delete from graph_child c using gone
    where c.shard_id = any(array[gone.shard_id]) and c.run_id between gone.id and gone.id),
steps as (
    delete from graph_step s using gone where s.shard_id = any(array[gone.shard_id]) and s.run_id between gone.id and gone.id)
delete from graph_run r using gone where r.ctid = gone.ctid
returning r.shard_id
