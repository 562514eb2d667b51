-- Zero rows: there is no such source, or the shard is closed. A round begins anew, where rounds are asked for ($5).
update source s
set paused_at = null, step = s.step + 1,
    asked = case when s.paused_at is null then s.asked else $5 end,
    next_at = case when s.paused_at is null or $5::text is null then s.next_at else $4 end
where s.shard_id = $1 and s.job_id = $2 and s.tenant_id = $3
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning s.*
