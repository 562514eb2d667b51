-- :drained_before :limit
-- Zero rows: every drained worker has polled lately, or was drained lately.
with gone as materialized (
    select d.ctid from worker_drain d
    where d.drained_at < :drained_before
      and not exists (select from queue_worker w where w.tenant_id = d.tenant_id and w.worker_id = d.worker_id)
    limit :limit
    for update skip locked)
delete from worker_drain d using gone where d.ctid = gone.ctid
returning d.worker_id
