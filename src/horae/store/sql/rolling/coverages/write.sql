-- :shard :job_id :tenant_id :at :subjects :fresh :occupied :met :estimate_at :ages
-- Zero rows: the shard is closed. Gives what was known before, which may be nothing.
with kept as (select c.at, c.fresh, c.met from coverage c where c.shard_id = :shard and c.job_id = :job_id)
insert into coverage as c (shard_id, job_id, tenant_id, at, subjects, fresh, occupied, met, estimate_at, ages)
select :shard, :job_id, :tenant_id, :at, :subjects, :fresh, :occupied, :met, :estimate_at, :ages
where {fence}
on conflict (shard_id, job_id) do update
set at = excluded.at, subjects = excluded.subjects, fresh = excluded.fresh, occupied = excluded.occupied,
    met = excluded.met, estimate_at = excluded.estimate_at, ages = excluded.ages
returning (select kept.met from kept) as met_before
