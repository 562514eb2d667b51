-- Zero rows: it is not NEW or DEAD_AGAIN any more, or the shard is closed.
update dead_letter d
set replay_status = 'DISCARDED'
where d.shard_id = $1 and d.instance_id = $2 and d.tenant_id = $3 and d.replay_status not in ('REPLAYING', 'REPLAYED', 'DISCARDED')
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning d.instance_id
