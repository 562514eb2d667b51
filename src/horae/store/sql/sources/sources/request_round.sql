-- :shard :job_id :tenant_id :asked :now
-- Zero rows: there is no such source, or the shard is closed.
update source s
set asked = :asked, next_at = :now, step = s.step + 1
where s.shard_id = :shard and s.job_id = :job_id and s.tenant_id = :tenant_id
  and {fence}
returning s.*
