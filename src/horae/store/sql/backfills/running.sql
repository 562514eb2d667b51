-- Oldest first; zero rows: nobody asked for any, or all are done.
select b.* from backfill b
where b.status = 'RUNNING'
  and not exists (select from shard s where s.shard_id = b.shard_id and s.state <> 'ACTIVE')
order by b.id
limit $1
