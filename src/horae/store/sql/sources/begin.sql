-- Zero rows: someone else has written to it since it was read, or the shard is closed.
with begun as (
    update source s
    set round = s.round + 1, step = s.step + 1, running = true, after_key = '', cursor = null, asked = null,
        dry = $4, pushed = $5
    where s.shard_id = $1 and s.id = $2 and s.step = $3
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning s.*),
stopped as (                                     -- one that was under way: whoever asked for another meant now
    update source_round r
    set status = 'STOPPED', ended_at = $6
    from begun b
    where r.shard_id = b.shard_id and r.source_id = b.id and r.number = b.round - 1 and r.status = 'RUNNING'),
told as (
    insert into source_round (began_at, number, shard_id, source_id, tenant_id, dry, status)
    select $6, round, shard_id, id, tenant_id, dry, 'RUNNING' from begun)
select * from begun
