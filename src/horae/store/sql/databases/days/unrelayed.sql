-- :since :until
-- How many compensations that were requested between two times have not been relayed.
select count(*)::int
from outbox o
left join relay r on r.shard_id = o.shard_id
where o.event = 'COMPENSATION_ASKED' and o.at >= :since and o.at < :until and o.xid >= coalesce(r.xid, 0)
