-- :shard :backfill_id :tenant_id :job_id :range_from :range_to :cap :planned :rerun :now :created_by
-- Zero rows: a backfill of this job that still runs has a part of this range, or the shard is closed.
insert into backfill (shard_id, id, tenant_id, job_id, range_from, range_to, cursor, cap, planned, rerun, status,
                      created_at, created_by)
select :shard, :backfill_id, :tenant_id, :job_id, :range_from::timestamptz, :range_to::timestamptz, :range_from, :cap,
       :planned, :rerun, 'RUNNING', :now, :created_by
where {fence}
  and not exists (select from backfill b
                  where b.job_id = :job_id and b.status = 'RUNNING' and b.range_from < :range_to
                    and b.range_to > :range_from)
returning id
