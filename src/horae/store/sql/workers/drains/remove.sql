-- :shard :tenant_id :worker_id
-- Zero rows: the home shard is closed. A copy in another cell has no shard. `removed` is false if it was not drained.
with gone as (
    delete from worker_drain d
    where d.tenant_id = :tenant_id and d.worker_id = :worker_id and {fence}
    returning d.worker_id)
select exists (select from gone) as removed
where {fence}
