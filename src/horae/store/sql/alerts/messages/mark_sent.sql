-- :alert_id :sequence :channel :now
-- Zero rows: another node sent it at the same time; the receiver got it twice under one id.
update alert_message
set state = 'SENT', sent_at = :now, next_try_at = null, attempts = attempts + 1, error = null
where alert_id = :alert_id and sequence = :sequence and channel = :channel and state = 'PENDING'
returning alert_id
