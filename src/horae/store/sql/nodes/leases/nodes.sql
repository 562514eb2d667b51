-- :now
-- Every node of this cell that is remembered, with how many shards are in its name.
select n.incarnation, n.name, n.started_at, n.seen_at, n.expires_at, n.draining, n.expires_at > :now as alive,
       (select count(*) from shard s where s.owner = n.incarnation)::int as shards
from node n
order by n.name, n.started_at
