-- :from_xid :since :bounds_ms
-- Ended instances that were not tried again, by the second of the minute at which they were due, and by delay.
-- A delay belongs to the first bucket whose upper end it does not exceed.
select extract(second from date_trunc('second', h.due_at))::int as second,
       width_bucket(h.trigger_delay_ms - 1, :bounds_ms::int[]) as bucket, count(*)::int as fires
from instance_history h
where h.xid >= :from_xid and h.ended_at >= :since and h.trigger_delay_ms is not null and h.retry_count = 0
group by 1, 2
