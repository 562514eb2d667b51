-- :polled_before :limit
-- Zero rows: every worker of which there is a row has polled since.
with gone as materialized (
    select w.ctid from queue_worker w where w.polled_at < :polled_before
    limit :limit
    for update skip locked)
delete from queue_worker w using gone where w.ctid = gone.ctid
returning w.worker_id
