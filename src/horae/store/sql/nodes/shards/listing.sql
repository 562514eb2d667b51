-- :now :after_shard :limit
-- The shards of this cell that are not elsewhere, after one: who leases them, in which epoch, last heard of when.
select s.shard_id, s.state, s.epoch, s.owner, n.name, n.seen_at, coalesce(n.expires_at > :now, false) as alive
from shard s
left join node n on n.incarnation = s.owner
where s.shard_id > :after_shard and s.state <> 'ELSEWHERE'
order by s.shard_id
limit :limit
