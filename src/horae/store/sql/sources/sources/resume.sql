-- :shard :job_id :tenant_id :now :asked
-- Zero rows: there is no such source, or the shard is closed. A round begins anew, where rounds are asked for (:asked).
update source s
set paused_at = null, step = s.step + 1,
    asked = case when s.paused_at is null then s.asked else :asked end,
    next_at = case when s.paused_at is null or :asked::text is null then s.next_at else :now end
where s.shard_id = :shard and s.job_id = :job_id and s.tenant_id = :tenant_id
  and {fence}
returning s.*
