-- :first_shard :last_shard :limit
-- Zero rows: the instance of every released step lives. The state is null if the end left no history here.
select s.shard_id, s.instance_id, h.state, h.reason, h.error_code
from graph_step s
left join lateral (
    select h.state, h.reason, h.error_code from instance_history h
    where h.id = s.instance_id and h.ended_at >= s.changed_at - interval '1 hour'
    limit 1) h on true
where s.state = 'RELEASED' and s.instance_id is not null and s.shard_id between :first_shard and :last_shard
  and not exists (select from instance_live l where l.shard_id = any(array[s.shard_id])
                                                and l.id between s.instance_id and s.instance_id)
  and not exists (select from shard c where c.shard_id = s.shard_id and c.state <> 'ACTIVE')
limit :limit
