-- :shard :source_id :tenant_id :job_id :name :actor :now :next_at :spec
-- Zero rows: the shard is closed. A source that is there already begins anew: its round is stopped where it is.
with kept as (
    insert into source as s (changed_at, next_at, shard_id, id, tenant_id, job_id, name, changed_by, spec)
    select :now, :next_at, :shard, :source_id, :tenant_id, :job_id, :name, :actor, :spec
    where {fence}
    on conflict (shard_id, job_id) do update
    set changed_at = excluded.changed_at, next_at = excluded.next_at, name = excluded.name, spec = excluded.spec,
        changed_by = excluded.changed_by, revision = s.revision + 1, step = s.step + 1, failures = 0, running = false,
        asked = null, pushed = null, after_key = '', cursor = null
    returning s.*),
stopped as (
    update source_round r
    set status = 'STOPPED', ended_at = :now
    from kept k
    where r.shard_id = k.shard_id and r.source_id = k.id and r.number = k.round and r.status = 'RUNNING')
select * from kept
