-- :shard :id :step :dry :pushed :now
-- Zero rows: someone else has written to it since it was read, or the shard is closed.
with begun as (
    update source s
    set round = s.round + 1, step = s.step + 1, running = true, after_key = '', cursor = null, asked = null,
        dry = :dry, pushed = :pushed
    where s.shard_id = :shard and s.id = :id and s.step = :step
      and {fence}
    returning s.*),
stopped as (                                     -- one that was under way: whoever asked for another meant now
    update source_round r
    set status = 'STOPPED', ended_at = :now
    from begun b
    where r.shard_id = b.shard_id and r.source_id = b.id and r.number = b.round - 1 and r.status = 'RUNNING'),
events as (
    insert into source_round (began_at, number, shard_id, source_id, tenant_id, dry, status)
    select :now, round, shard_id, id, tenant_id, dry, 'RUNNING' from begun)
select * from begun
