-- :shard :id :status :outstanding :succeeded :failed :returned :refused :waits_for :ended_at :ended_because
-- Zero rows: it was stopped meanwhile, or the shard is closed.
update paced_replay p
set status = :status, outstanding = :outstanding, succeeded = :succeeded, failed = :failed, returned = :returned,
    refused = :refused, waits_for = :waits_for, ended_at = :ended_at, ended_because = :ended_because
where p.shard_id = :shard and p.id = :id and p.ended_at is null
  and {fence}
returning p.id
