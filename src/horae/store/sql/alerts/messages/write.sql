-- :rows
-- Fewer rows than given: the others were written before.
insert into alert_message (alert_id, sequence, channel, tenant_id, state, body, created_at, next_try_at)
select g.alert_id, g.sequence, g.channel, g.tenant_id, g.state, g.body, g.created_at, g.next_try_at
from jsonb_populate_recordset(null::alert_message, :rows) g
on conflict (alert_id, sequence, channel) do nothing
returning alert_id
