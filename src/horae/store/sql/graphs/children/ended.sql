-- :first_shard :last_shard :after_shard :after_id :limit
-- Zero rows: no live child stands behind this one. Rows of children whose instance lives are left out, but not the last
-- one that was looked at. The state is null if the end left no history here.
with looked as materialized (
    select h.shard_id, h.instance_id, h.changed_at, row_number() over (order by h.shard_id, h.instance_id) as place
    from graph_child h
    where h.state = 'RELEASED' and h.shard_id between :first_shard and :last_shard
      and (h.shard_id, h.instance_id) > (:after_shard::smallint, :after_id::uuid)
    order by h.shard_id, h.instance_id
    limit :limit),
compared as (
    select k.*, exists (select from instance_live l where l.shard_id = any(array[k.shard_id])
                                                      and l.id between k.instance_id and k.instance_id) as lives,
           place = max(place) over () as is_last
    from looked k)
select c.shard_id, c.instance_id, c.lives, h.state, h.reason, h.error_code
from compared c
left join lateral (
    select p.state, p.reason, p.error_code from instance_history p
    where p.id = c.instance_id and not c.lives and p.ended_at >= c.changed_at - interval '1 hour'
    limit 1) h on true
where (not c.lives or c.is_last)
  and not exists (select from shard s where s.shard_id = c.shard_id and s.state <> 'ACTIVE')
order by c.place
