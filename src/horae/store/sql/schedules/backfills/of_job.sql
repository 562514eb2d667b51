-- :tenant_id :job_id :before_id :limit
-- Newest first, before an id.
select b.* from backfill b where b.job_id = :job_id and b.tenant_id = :tenant_id and b.id < :before_id
order by b.id desc limit :limit
