-- migrate:up

-- Which life of this cell the database is. `generation` is raised each time the cell is opened after a restore.
-- `cluster_id` and `timeline` are those of the server that the generation runs on: another timeline is followed only
-- after a failover that lost nothing. A cell with a `closed_reason` is never used again.
create table cell_generation (
    opened_at timestamptz not null default now(),
    generation bigint not null default 1,
    cluster_id bigint not null,
    timeline bigint not null,
    only_row boolean primary key default true check (only_row),
    closed_reason text
);
insert into cell_generation (cluster_id, timeline)
select system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
from pg_control_system();
grant select on cell_generation to horae_api, horae_engine, horae_relay, horae_readonly;
grant update on cell_generation to horae_engine;

-- The newest generation of each other cell that this cell has heard of. A database with an older one is a cell that was
-- restored elsewhere meanwhile.
create table cell_witness (
    seen_at timestamptz not null,
    generation bigint not null,
    cell text primary key check (length(cell) between 1 and 120)
);
grant select on cell_witness to horae_api, horae_readonly;
grant select, insert, update on cell_witness to horae_engine;

-- What a restore shut because its removal may have been lost. `content` is the row as it was: it is put back if a
-- person allows it.
create table restore_doubt (
    found_at timestamptz not null,
    decided_at timestamptz,
    number bigint not null,
    generation bigint not null,
    tenant_id uuid not null,
    kind text not null check (kind in ('api-key', 'role-binding', 'secret', 'tenant')),
    name text not null,
    evidence text not null,
    decision text check (decision in ('ALLOWED', 'REFUSED')),
    decided_by text,
    content jsonb not null,
    primary key (generation, number),
    check ((decided_at is null) = (decision is null))
);
select raise_wall('restore_doubt');

-- migrate:down
drop table restore_doubt, cell_witness, cell_generation;
