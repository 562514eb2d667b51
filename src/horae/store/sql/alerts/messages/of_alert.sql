-- :tenant_id :alert_id
-- The messages of an alert, or of one test, in their order.
select m.alert_id, m.sequence, m.channel, m.state, m.attempts, m.created_at, m.next_try_at, m.sent_at, m.error, m.body
from alert_message m
where m.alert_id = :alert_id and m.tenant_id = :tenant_id
order by m.sequence, m.channel
