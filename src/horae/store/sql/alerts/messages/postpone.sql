-- :alert_id :sequence :channel :next_try_at :error
-- Zero rows: another node sent it meanwhile.
update alert_message
set attempts = attempts + 1, next_try_at = :next_try_at, error = :error
where alert_id = :alert_id and sequence = :sequence and channel = :channel and state = 'PENDING'
returning alert_id
