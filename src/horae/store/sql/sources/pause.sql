-- Zero rows: there is no such source, or the shard is closed. A round under way stands still: its next step is not ours.
update source s
set paused_at = coalesce(s.paused_at, $4), step = s.step + 1
where s.shard_id = $1 and s.job_id = $2 and s.tenant_id = $3
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning s.*
