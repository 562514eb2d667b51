-- migrate:up

-- The members of a rolling job's set, each in the shard of its key. `batch_no` is the occupation that authorises a birth,
-- `instance_id` what was born of it and has not been seen to end. `aged_at` is what ticks go by: the end of the last
-- refresh; of a new subject a window before it was added, or the beginning of time where it may run at once.
create table subject (
    aged_at timestamptz not null,
    added_at timestamptz not null,
    started_at timestamptz,
    finished_at timestamptz,
    last_success_at timestamptz,
    shard_id smallint not null,
    job_id uuid not null,
    tenant_id uuid not null,
    batch_no uuid,
    instance_id uuid,
    key text collate "C" not null,
    remark text,
    primary key (shard_id, job_id, key),
    constraint subject_occupied check (instance_id is null or batch_no is not null)
) with (fillfactor = 80);
-- Time first; the shard is filtered inside the index.
create index subject_aged on subject (job_id, aged_at, (shard_id::int)) where instance_id is null;
create index subject_occupied on subject (job_id, (shard_id::int)) where instance_id is not null;
select raise_wall('subject');

-- How well a rolling job's set is covered, as its home counted it last.
create table coverage (
    at timestamptz not null,
    estimate_at timestamptz,
    subjects bigint not null,
    fresh bigint not null,
    occupied bigint not null,
    shard_id smallint not null,
    job_id uuid not null,
    tenant_id uuid not null,
    met boolean not null,
    primary key (shard_id, job_id)
);
select raise_wall('coverage');

-- Few jobs are rolling; nodes ask for them every second.
create index reference_rolling on reference (id) where kind = 'job' and body -> 'definition' -> 'trigger' ->> 'kind' = 'rolling';

grant select, insert, update, delete on subject to horae_api, horae_engine;
grant select on coverage to horae_api;
grant select, insert, update, delete on coverage to horae_engine;
grant select on subject, coverage to horae_readonly;

-- migrate:down
-- squawk-ignore require-concurrent-index-deletion
drop index reference_rolling;
drop table coverage, subject;
