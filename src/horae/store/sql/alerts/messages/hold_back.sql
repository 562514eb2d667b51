-- :tenant_id :channel :next_try_at
-- Zero rows: nothing else waits for this channel. It cannot be reached, so all its messages wait.
update alert_message
set next_try_at = :next_try_at
where tenant_id = :tenant_id and channel = :channel and state = 'PENDING' and next_try_at < :next_try_at
returning alert_id
