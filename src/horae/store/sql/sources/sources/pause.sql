-- :shard :job_id :tenant_id :now
-- Zero rows: there is no such source, or the shard is closed. A round under way stands still: its next step is not
-- ours.
update source s
set paused_at = coalesce(s.paused_at, :now), step = s.step + 1
where s.shard_id = :shard and s.job_id = :job_id and s.tenant_id = :tenant_id
  and {fence}
returning s.*
