-- migrate:up

-- Workers that get no new work, because a person drained them. Every cell has a row of each, so that the statement that
-- looks for due work finds it without another one. Upkeep takes it away an hour after the worker's last poll.
create table worker_drain (
    drained_at timestamptz not null,
    tenant_id uuid not null,
    worker_id text collate "C" not null,
    drained_by text not null,
    reason text not null,
    primary key (tenant_id, worker_id)
);
select raise_wall('worker_drain');
create policy platform on worker_drain
using ((select current_setting('horae.platform', true)) = 'on')
with check ((select current_setting('horae.platform', true)) = 'on');

grant select, insert, update, delete on worker_drain to horae_api;
grant select, delete, update on worker_drain to horae_engine;
grant select on worker_drain to horae_readonly;

-- migrate:down
drop table worker_drain;
