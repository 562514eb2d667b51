-- migrate:up

-- Which shards a tenant has: neighbours of its base, as every tenant made before, or as many at equal distances.
alter table tenant add column layout text not null default 'NEIGHBOURS' check (layout in ('NEIGHBOURS', 'SPREAD'));

-- migrate:down
-- squawk-ignore ban-drop-column
alter table tenant drop column layout;
