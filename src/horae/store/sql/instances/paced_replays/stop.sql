-- :shard :id :tenant_id :now :reason
-- Zero rows: it has ended, or the shard is closed.
update paced_replay p
set status = 'STOPPED', ended_at = :now, ended_because = :reason, waits_for = null
where p.shard_id = :shard and p.id = :id and p.tenant_id = :tenant_id and p.ended_at is null
  and {fence}
returning p.id
