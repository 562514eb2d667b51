-- migrate:up
-- without transaction

-- The owner in the definition, once more: behind the wall no index over an expression of jsonb can be searched, because
-- its operators are not leakproof.
alter table job add column if not exists owner text;
-- The jobs of one owner, by name as in `job_page`. Jobs without an owner are not in it.
drop index concurrently if exists job_owner;
create index concurrently job_owner on job (tenant_id, owner, name collate "C")
    where status <> 'REMOVED' and owner is not null;

-- migrate:down
drop index concurrently job_owner;
-- squawk-ignore ban-drop-column
alter table job drop column owner;
