-- migrate:up

-- Sessions of people, and of keys that were exchanged for one: at home in their tenant's home shard, in no copy. Only the
-- doors read them. `login` is the login they came from, so that none opens two.
create table session (
    created_at timestamptz not null,
    seen_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz,
    idle_s integer not null check (idle_s > 0),
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    key_id uuid,
    principal text not null check (length(principal) between 1 and 200),
    name text not null check (length(name) <= 200),
    digest bytea not null check (length(digest) = 32),
    login bytea check (length(login) = 32),
    groups text[] not null,
    primary key (shard_id, id)
);
create unique index session_login on session (shard_id, login);
create index session_tenant on session (tenant_id, id);
create index session_principal on session (principal) where ended_at is null;
create index session_expires on session (expires_at);
select raise_wall('session');
-- The platform ends all sessions of a person, wherever they are.
create policy platform on session
using ((select current_setting('horae.platform', true)) = 'on')
with check ((select current_setting('horae.platform', true)) = 'on');
-- Who shows a session is not known yet: of all sessions there is that one.
create policy shown on session for select using (id = (select nullif(current_setting('horae.key', true), '')::uuid));
grant select, insert, update on session to horae_api;

-- Which tenants a person may choose from.
create index role_binding_principal on role_binding (principal);

-- migrate:down
-- squawk-ignore require-concurrent-index-deletion
drop index role_binding_principal;
drop table session;
