-- migrate:up

-- How far the fires of this cell's jobs are audited: all before `judged_until`. A walk over all jobs judges the fires
-- from there to `walk_until`, and has judged the jobs up to `walked_shard` and `walked_job`. `has_doubt`: a cell was
-- down while a fault was seen, so the same fires are judged again.
create table fire_audit_position (
    judged_until timestamptz not null,
    walk_until timestamptz,
    moved_at timestamptz not null,
    walked_shard smallint not null default -1,
    walked_job uuid not null default '00000000-0000-0000-0000-000000000000',
    has_doubt boolean not null default false,
    only_row boolean primary key default true check (only_row)
);

-- What the audit of fires found, a row for each job, fire and fault: open until it is not found any more. `seen_at` is
-- when it was found last.
create table fire_finding (
    found_at timestamptz not null,
    seen_at timestamptz not null,
    ended_at timestamptz,
    fire_time timestamptz not null,
    fires integer not null,
    shard_id smallint not null,
    job_id uuid not null,
    tenant_id uuid not null,
    instance_id uuid,
    fault text collate "C" not null,
    said text not null,
    primary key (shard_id, job_id, fire_time, fault)
) with (fillfactor = 70);
create index fire_finding_open on fire_finding (seen_at) where ended_at is null;
create index fire_finding_ended on fire_finding (ended_at) where ended_at is not null;
create index fire_finding_tenant on fire_finding (tenant_id, found_at);
select raise_wall('fire_finding');
grant select on fire_finding to horae_api, horae_engine, horae_readonly;
grant select on fire_audit_position to horae_readonly;

-- migrate:down
drop table fire_finding;
drop table fire_audit_position;
