-- migrate:up

-- When something of a subject changed last. Null in rows that an older release wrote: their other times say it.
alter table subject add column updated_at timestamptz;

-- What messages of intakes said last of the subjects of a rolling set: the version of the message, and whether the subject
-- is in the set. The row of a removed subject stays for a while, so that an older message that is late changes nothing.
create table subject_version (
    changed_at timestamptz not null,
    version bigint not null,
    shard_id smallint not null,
    present boolean not null,
    job_id uuid not null,
    tenant_id uuid not null,
    key text collate "C" not null,
    primary key (shard_id, job_id, key)
) with (fillfactor = 80);
create index subject_version_removed on subject_version (changed_at) where not present;
select raise_wall('subject_version');
grant select, insert, update, delete on subject_version to horae_api, horae_engine;
grant select on subject_version to horae_readonly;

-- migrate:down
drop table subject_version;
-- squawk-ignore ban-drop-column
alter table subject drop column updated_at;
