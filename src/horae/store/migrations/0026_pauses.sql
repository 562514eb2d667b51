-- migrate:up

-- Since when nobody takes from it, tells it, or repairs by it; null: it goes on. A change of what it says does not resume it.
alter table channel add column paused_at timestamptz;
alter table source add column paused_at timestamptz;

-- How far an intake has come: what it has taken, what of it was parked, how much lay there still when it last looked, and
-- what is wrong now.
create table intake_position (
    looked_at timestamptz not null,
    taken_at timestamptz,
    taken bigint not null,
    parked bigint not null,
    waiting bigint,
    channel_id uuid primary key,
    tenant_id uuid not null,
    error text
) with (fillfactor = 50);
select raise_wall('intake_position');
grant select, insert, update, delete on intake_position to horae_api, horae_relay;
grant select on intake_position to horae_readonly;

-- migrate:down
drop table intake_position;
-- squawk-ignore ban-drop-column
alter table source drop column paused_at;
-- squawk-ignore ban-drop-column
alter table channel drop column paused_at;
