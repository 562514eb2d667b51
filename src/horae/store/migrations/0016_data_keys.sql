-- migrate:up

-- The keys that seal a tenant's payloads and secrets, each wrapped by a key that no database holds. Row and copies are
-- the same: a higher revision replaces a lower one. Versions are never taken away: what has ended stays readable.
create table data_key (
    created_at timestamptz not null,
    changed_at timestamptz not null,
    resealed_at timestamptz,
    version integer not null check (version > 0),
    revision integer not null default 1,
    shard_id smallint not null,
    tenant_id uuid not null,
    wrapped text not null,
    primary key (shard_id, tenant_id, version)
);
create index data_key_changed on data_key (changed_at);
create index data_key_unwalked on data_key (created_at) where resealed_at is null;
select raise_wall('data_key');

-- Named secrets of a tenant, sealed. Without a value: it was removed, and its copies are to hear of it.
create table secret (
    changed_at timestamptz not null,
    version integer not null default 1,
    shard_id smallint not null,
    tenant_id uuid not null,
    name text not null check (length(name) between 1 and 100),
    changed_by text not null,
    sealed jsonb,
    primary key (shard_id, tenant_id, name)
);
create index secret_changed on secret (changed_at);
select raise_wall('secret');

grant select, insert on data_key to horae_api;
grant select, insert, update on data_key to horae_engine;
grant select, insert, update on secret to horae_api, horae_engine;

-- migrate:down
drop table secret, data_key;
