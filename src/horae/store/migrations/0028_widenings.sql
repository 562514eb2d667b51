-- migrate:up

-- The placements that a tenant had before it was widened, oldest first: its older rows still lie there.
alter table tenant add column former jsonb not null default '[]';

-- How often a tenant was widened, as this cell heard of it. Whoever makes a name or a key reads it and knows of fewer
-- widenings than it says writes nothing; whoever raises it locks the table, so nobody is half way. See
-- `horae.service.places`.
create table widening (
    number integer not null check (number > 0),
    tenant_id uuid not null primary key
);
select raise_wall('widening');
grant select, insert, update on widening to horae_api, horae_engine, horae_relay;
grant select on widening to horae_readonly;

-- migrate:down
drop table widening;
-- squawk-ignore ban-drop-column
alter table tenant drop column former;
