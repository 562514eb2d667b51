-- :shards :instance_ids :tenant_id :added :removed :limit
-- No row for a dead letter: it is not NEW or DEAD_AGAIN any more, it would have too many tags, or its shard is closed.
with given as materialized (
    select * from unnest(:shards::smallint[], :instance_ids::uuid[]) as g(shard_id, instance_id))
update dead_letter d
set tags = (select array_agg(distinct t.tag order by t.tag) from unnest(d.tags || :added::text[]) as t(tag)
            where t.tag <> all(:removed::text[]))
from given g
where d.shard_id = any(array[g.shard_id]) and d.instance_id between g.instance_id and g.instance_id
  and (d.tenant_id = :tenant_id) is true and d.replay_status not in ('REPLAYING', 'REPLAYED', 'DISCARDED')
  and (select count(distinct t.tag) from unnest(d.tags || :added) as t(tag) where t.tag <> all(:removed)) <= :limit
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning d.instance_id
