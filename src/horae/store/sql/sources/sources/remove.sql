-- :shard :job_id :tenant_id
-- Zero rows: there is no such source, or the shard is closed. Its rounds go with it; its repairs go with their time.
with gone as (
    delete from source s
    where s.shard_id = :shard and s.job_id = :job_id and s.tenant_id = :tenant_id
      and {fence}
    returning s.*),
rounds as (
    delete from source_round r using gone g where r.shard_id = g.shard_id and r.source_id = g.id)
select * from gone
