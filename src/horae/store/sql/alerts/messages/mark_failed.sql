-- :alert_id :sequence :channel :error
-- Zero rows: another node sent it meanwhile.
update alert_message
set state = 'FAILED', next_try_at = null, attempts = attempts + 1, error = :error
where alert_id = :alert_id and sequence = :sequence and channel = :channel and state = 'PENDING'
returning alert_id
