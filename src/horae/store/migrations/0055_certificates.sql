-- migrate:up

-- The certificates of tenants' days. `body` is what was signed, byte for byte. `evidence` is everything that its
-- numbers are counted from, compressed: it is kept here because rows of instances are dropped earlier.
create table certificate (
    made_at timestamptz not null,
    day date not null,
    revision integer not null check (revision > 0),
    shard_id smallint not null,
    tenant_id uuid not null,
    audit_id uuid not null,
    key_id text not null,
    digest bytea not null check (length(digest) = 32),
    signature bytea not null check (length(signature) = 64),
    body text not null,
    evidence bytea not null,
    primary key (shard_id, tenant_id, day, revision)
);
select raise_wall('certificate');
grant select, insert on certificate to horae_api;
grant select, insert, update, delete on certificate to horae_engine;
grant select on certificate to horae_readonly;

-- migrate:down
drop table certificate;
