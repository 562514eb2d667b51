-- Zero rows: the shard is closed. Gives what was known before, which may be nothing.
with kept as (select c.at, c.fresh, c.met from coverage c where c.shard_id = $1 and c.job_id = $2)
insert into coverage as c (shard_id, job_id, tenant_id, at, subjects, fresh, occupied, met, estimate_at, ages)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict (shard_id, job_id) do update
set at = excluded.at, subjects = excluded.subjects, fresh = excluded.fresh, occupied = excluded.occupied,
    met = excluded.met, estimate_at = excluded.estimate_at, ages = excluded.ages
returning (select kept.met from kept) as met_before
