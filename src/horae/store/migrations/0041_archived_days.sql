-- migrate:up

-- The days of this cell that are archived, or will be. A day is closed once every transaction that could write to it has
-- ended: those below closing_xid. All rows of tenants that were purged before cleared_until have left its archive.
create table archived_day (
    archived_at timestamptz,
    dropped_at timestamptz,
    cleared_until timestamptz,
    closing_xid bigint not null,
    rows bigint,
    bytes bigint,
    generation integer,
    day date primary key,
    archive_id uuid not null,
    state text not null check (state in ('CLOSING', 'ARCHIVED', 'EXPIRING')),
    constraint archived_day_written check (
        state = 'CLOSING' or (archived_at is not null and rows is not null and bytes is not null
                              and generation is not null and cleared_until is not null))
);
grant select on archived_day to horae_api, horae_engine, horae_relay, horae_readonly;

-- migrate:down
drop table archived_day;
