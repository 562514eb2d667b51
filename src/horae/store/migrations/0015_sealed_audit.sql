-- migrate:up

-- Blocks over the audit log. A block is the rows of the transactions from `from_xid` on and below `until_xid`, all of
-- which had ended when it was sealed, so each row is in exactly one block and no block ever grows. `digest` is over the
-- rows, `hash` over the block with the hash of the one before.
create table audit_block (
    sealed_at timestamptz not null,
    number bigint primary key check (number > 0),
    from_xid bigint not null,
    until_xid bigint not null,
    entries bigint not null,
    digest bytea not null check (length(digest) = 32),
    previous bytea not null check (length(previous) = 32),
    hash bytea not null check (length(hash) = 32),
    check (from_xid < until_xid)
);

-- The last block that was dropped for its age, from which the chain goes on.
create table audit_checkpoint (
    sealed_at timestamptz not null default '-infinity',
    number bigint not null default 0,
    until_xid bigint not null default 0,
    hash bytea not null default decode(repeat('00', 32), 'hex') check (length(hash) = 32),
    only_row boolean primary key default true check (only_row)
);
insert into audit_checkpoint default values;

create index audit_log_xid on audit_log (xid, id);

-- Nothing is changed, whoever asks; what lies behind the checkpoint may go. The checkpoint only moves on.
create function audit_stays() returns trigger
language plpgsql set search_path from current as $$
begin
    if tg_op = 'DELETE' and tg_table_name = 'audit_log' then
        if old.xid < (select until_xid from audit_checkpoint) then
            return old;
        end if;
    elsif tg_op = 'DELETE' and tg_table_name = 'audit_block' then
        if old.number <= (select number from audit_checkpoint) then
            return old;
        end if;
    elsif tg_op = 'UPDATE' and tg_table_name = 'audit_checkpoint' then
        if new.number > old.number and new.until_xid > old.until_xid then
            return new;
        end if;
    end if;
    raise exception '% of % is refused: what was audited stays as it is', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
create trigger audit_stays before update or delete on audit_log for each row execute function audit_stays();
create trigger audit_stays before update or delete on audit_block for each row execute function audit_stays();
create trigger audit_stays before update or delete on audit_checkpoint for each row execute function audit_stays();
create trigger audit_is_not_emptied before truncate on audit_log for each statement execute function audit_stays();
create trigger audit_is_not_emptied before truncate on audit_block for each statement execute function audit_stays();
create trigger audit_is_not_emptied before truncate on audit_checkpoint for each statement execute function audit_stays();

-- Which transaction a row belongs to is PostgreSQL's to say: no role that writes audit rows may name it.
revoke insert on audit_log from horae_api, horae_engine;
grant insert (at, shard_id, id, tenant_id, actor, action, resource, detail) on audit_log to horae_api, horae_engine;
grant select on audit_block, audit_checkpoint to horae_api, horae_engine, horae_readonly;

-- migrate:down
drop trigger audit_stays on audit_log;
drop trigger audit_is_not_emptied on audit_log;
-- squawk-ignore require-concurrent-index-deletion
drop index audit_log_xid;
drop table audit_checkpoint, audit_block;
drop function audit_stays();
