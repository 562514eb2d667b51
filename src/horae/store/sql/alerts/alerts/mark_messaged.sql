-- :rows :now
-- Always as many rows as given: the alerts were read in this transaction.
update alert a
set sequence = g.sequence, announced = g.announced, next_message_at = g.next_message_at,
    messaged_at = case when g.announced then :now else a.messaged_at end
from jsonb_populate_recordset(null::alert, :rows) g
where a.id = g.id
