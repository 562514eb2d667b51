-- The types whose finished keys have a term, as this cell knows them.
select r.id as job_id, r.tenant_id, (r.body -> 'definition' ->> 'key_retention_days')::int as days
from reference r
where r.kind = 'job' and r.body -> 'definition' ->> 'key_retention_days' is not null
order by r.id
