-- Zero rows: it does not run any more, or the shard is closed.
update backfill b
set status = 'CANCELLED', ended_at = $4
where b.shard_id = $1 and b.id = $2 and b.tenant_id = $3 and b.status = 'RUNNING'
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning b.id
