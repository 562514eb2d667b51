-- :shard :now :tenant_id :worker_id :drained_by :reason
-- Zero rows: the home shard is closed. A copy in another cell has no shard. A worker that is drained again keeps its time.
insert into worker_drain as d (drained_at, tenant_id, worker_id, drained_by, reason)
select :now, :tenant_id, :worker_id, :drained_by, :reason
where {fence}
on conflict (tenant_id, worker_id) do update set drained_by = excluded.drained_by, reason = excluded.reason
returning d.drained_at
