-- :tenant_id
-- The rolling sets of a tenant whose last measurement did not meet their promise.
select c.job_id, c.subjects, c.fresh from coverage c where c.tenant_id = :tenant_id and not c.met limit 1000
