-- :tenant_id :most
-- Zero rows: the tenant has no more rows than :most, or others are at work on them.
with surplus as materialized (
    select w.ctid from queue_worker w
    where w.tenant_id = :tenant_id
    order by w.polled_at desc
    offset :most
    for update skip locked)
delete from queue_worker w using surplus where w.ctid = surplus.ctid
returning w.worker_id
