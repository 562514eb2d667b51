-- :shard :backfill_id :tenant_id :job_id :range_from :range_to :cap :planned :rerun :mode :decided_from :rate :needed :group_id :now :created_by
-- Zero rows: a backfill of this job that has not ended has a part of this range, or the shard is closed.
insert into backfill (shard_id, id, tenant_id, job_id, range_from, range_to, cursor, cap, planned, rerun, mode,
                      decided_from, rate, needed, group_id, status, created_at, created_by)
select :shard, :backfill_id, :tenant_id, :job_id, :range_from::timestamptz, :range_to::timestamptz, :range_from, :cap,
       :planned, :rerun, :mode, :decided_from, :rate, :needed, :group_id, 'RUNNING', :now, :created_by
where {fence}
  and not exists (select from backfill b
                  where b.job_id = :job_id and b.status in ('RUNNING', 'PAUSED') and b.range_from < :range_to
                    and b.range_to > :range_from)
returning id
