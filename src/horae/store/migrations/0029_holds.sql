-- migrate:up

-- What a living node holds back of a tenant's calls in this cell: at which gate (a target, or a limit that nodes share),
-- why, since when, how many. The digest of a gate's name is its key, because a URL may be long. A row counts while its
-- node lives; upkeep takes the others away.
create table hold (
    since timestamptz not null,
    next_try_at timestamptz,
    written_at timestamptz not null,
    waiting integer not null check (waiting > 0),
    tenant_id uuid not null,
    incarnation uuid not null,
    gate bytea not null check (length(gate) = 32),
    lane text not null,
    kind text not null,
    name text not null check (length(name) <= 500),
    reason text not null,
    primary key (tenant_id, incarnation, gate, lane)
) with (fillfactor = 50);
create index hold_incarnation on hold (incarnation);
select raise_wall('hold');

grant select, insert, update, delete on hold to horae_engine;
grant select on hold to horae_api, horae_readonly;

-- migrate:down
drop table hold;
