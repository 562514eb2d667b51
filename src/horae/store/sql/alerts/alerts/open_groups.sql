-- Every open alert of this cell, as far as its group and its job.
select a.tenant_id, a.rule, a.kind, a.group_key, a.job_id from alert a where a.resolved_at is null
