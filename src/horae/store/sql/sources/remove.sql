-- Zero rows: there is no such source, or the shard is closed. Its rounds go with it; its repairs go with their time.
with gone as (
    delete from source s
    where s.shard_id = $1 and s.job_id = $2 and s.tenant_id = $3
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning s.*),
rounds as (
    delete from source_round r using gone g where r.shard_id = g.shard_id and r.source_id = g.id)
select * from gone
