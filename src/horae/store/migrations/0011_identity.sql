-- migrate:up

-- Who may ask. The row at home and its copies in the other cells are the same row: a higher version replaces a lower
-- one. They are not in `reference`, which nodes read: no node ever needs a key.
create table api_key (
    created_at timestamptz not null,
    changed_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    version integer not null default 1,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    name text not null check (length(name) between 1 and 120),
    created_by text not null,
    digest bytea not null check (length(digest) = 32),
    scopes text[] not null,
    primary key (shard_id, id)
);
create unique index api_key_name on api_key (shard_id, tenant_id, name) where revoked_at is null;
create index api_key_tenant on api_key (tenant_id, id);
create index api_key_changed on api_key (changed_at);

create table role_binding (
    changed_at timestamptz not null,
    version integer not null default 1,
    shard_id smallint not null,
    tenant_id uuid not null,
    principal text not null check (length(principal) between 1 and 200),
    roles text[] not null,
    primary key (shard_id, tenant_id, principal)
);
create index role_binding_changed on role_binding (changed_at);

-- migrate:down
drop table role_binding, api_key;
