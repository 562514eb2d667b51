-- Zero rows: a backfill of this job that still runs has a part of this range, or the shard is closed.
insert into backfill (shard_id, id, tenant_id, job_id, range_from, range_to, cursor, cap, planned, rerun, status,
                      created_at, created_by)
select $1, $2, $3, $4, $5::timestamptz, $6::timestamptz, $5, $7, $8, $9, 'RUNNING', $10, $11
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
  and not exists (select from backfill b
                  where b.job_id = $4 and b.status = 'RUNNING' and b.range_from < $6 and b.range_to > $5)
returning id
