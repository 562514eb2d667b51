-- Newest first, before an id.
select b.* from backfill b where b.job_id = $2 and b.tenant_id = $1 and b.id < $3 order by b.id desc limit $4
