-- :tenant_ids :job_ids
-- Zero rows: none of these jobs is paused.
select w.id from unnest(:tenant_ids::uuid[], :job_ids::uuid[]) as w(tenant_id, id)
where exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = w.tenant_id and pj.id = w.id)
   or exists (select from reference pr where pr.kind = 'job' and pr.body ->> 'status' = 'PAUSED'
                and pr.tenant_id = w.tenant_id and pr.id = w.id)
