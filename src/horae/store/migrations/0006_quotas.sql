-- migrate:up

-- Limits that several nodes share. A key lives in one fixed shard of its tenant, so that all nodes of all cells meet
-- at one row; they come for a slice, never for a single fire. What the limit is, they say themselves.
create table quota_bucket (
    refilled_at timestamptz not null,
    tokens double precision not null,
    shard_id smallint not null,
    tenant_id uuid not null,
    key text not null check (length(key) between 1 and 300),
    primary key (shard_id, tenant_id, key)
) with (fillfactor = 50);

-- What a node holds of a key, and what it would like. A hold that was not renewed in time counts no longer.
create table quota_hold (
    served_at timestamptz,
    seen_at timestamptz not null,
    expires_at timestamptz not null,
    asked double precision not null,
    held integer not null check (held >= 0),
    wanted integer not null check (wanted >= 0),
    shard_id smallint not null,
    tenant_id uuid not null,
    incarnation uuid not null,
    key text not null check (length(key) between 1 and 300),
    primary key (shard_id, tenant_id, key, incarnation)
) with (fillfactor = 50);

-- migrate:down
drop table quota_hold, quota_bucket;
