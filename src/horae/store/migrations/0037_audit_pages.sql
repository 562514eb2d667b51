-- migrate:up
-- without transaction

-- A page of the audit log is read in the order of this index. By tenant and time alone every row of the tenant was
-- read and sorted for each page.
drop index concurrently if exists audit_log_page;
create index concurrently audit_log_page on audit_log (tenant_id, at, id);
drop index concurrently if exists audit_log_tenant;

-- migrate:down
create index concurrently audit_log_tenant on audit_log (tenant_id, at);
drop index concurrently audit_log_page;
