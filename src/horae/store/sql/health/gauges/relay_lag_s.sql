-- :now :from_xid
-- Zero rows: every compensation that was requested from this transaction on has been relayed.
select extract(epoch from :now - o.at)::float8
from outbox o
left join relay r on r.shard_id = o.shard_id
where o.event = 'COMPENSATION_ASKED' and o.xid >= :from_xid and o.xid >= coalesce(r.xid, 0)
order by o.xid
limit 1
