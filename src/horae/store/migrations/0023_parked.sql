-- migrate:up

-- Messages that an intake could not make anything of: they wait for a person. The body is sealed; the same message, given
-- out twice, is parked once.
create table parked (
    at timestamptz not null,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    channel_id uuid not null,
    intake text not null,
    place text not null,
    digest bytea not null check (length(digest) = 32),
    code text not null,
    reason text not null,
    body jsonb not null,
    primary key (shard_id, id),
    unique (shard_id, channel_id, digest)
);
create index parked_tenant on parked (tenant_id, id);
select raise_wall('parked');
grant select, insert, update, delete on parked to horae_api, horae_relay;
grant select on parked to horae_readonly;

-- migrate:down
drop table parked;
