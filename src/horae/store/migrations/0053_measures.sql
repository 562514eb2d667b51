-- migrate:up

-- The protective measures of each scope that are in force, may come into force soon, or that a person has overridden.
-- Every cell has all of them, so that its nodes work on when another cell is down. The nil tenant stands for the whole
-- platform. `override` is the decision of a person.
create table measure (
    judged_until timestamptz not null,
    since timestamptz,
    level_since timestamptz,
    changed_at timestamptz not null,
    value double precision not null default 0,
    level smallint not null default 0,
    over_minutes integer not null default 0,
    clear_minutes integer not null default 0,
    tenant_id uuid not null,
    name text collate "C" not null,
    override jsonb,
    primary key (tenant_id, name)
) with (fillfactor = 50);
select raise_wall('measure');
create policy platform on measure
using ((select current_setting('horae.platform', true)) = 'on')
with check ((select current_setting('horae.platform', true)) = 'on');
create policy platform_wide on measure for select using (tenant_id = '00000000-0000-0000-0000-000000000000');
grant select, insert, update, delete on measure to horae_api, horae_engine;
grant select on measure to horae_relay, horae_readonly;

-- How gates shift the delays of a minute: added to `delays` bucket by bucket, they give the delays with the time at
-- gates. Empty: no gate held a first attempt back. `load`: the part of its slots that a node used.
alter table signal add column gate_shifts integer[] not null default '{}';
alter table signal add column load double precision;

-- migrate:down
-- squawk-ignore ban-drop-column
alter table signal drop column load;
-- squawk-ignore ban-drop-column
alter table signal drop column gate_shifts;
drop table measure;
