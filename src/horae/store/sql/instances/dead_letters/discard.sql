-- :shard :instance_id :tenant_id
-- Zero rows: it is not NEW or DEAD_AGAIN any more, or the shard is closed.
update dead_letter d
set replay_status = 'DISCARDED'
where d.shard_id = :shard and d.instance_id = :instance_id and d.tenant_id = :tenant_id
  and d.replay_status not in ('REPLAYING', 'REPLAYED', 'DISCARDED')
  and {fence}
returning d.instance_id
