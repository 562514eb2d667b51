-- Zero rows: there is no such source, or the shard is closed.
update source s
set asked = $4, next_at = $5, step = s.step + 1
where s.shard_id = $1 and s.job_id = $2 and s.tenant_id = $3
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning s.*
