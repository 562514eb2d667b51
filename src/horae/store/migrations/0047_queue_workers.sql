-- migrate:up

-- Which workers poll which queues. Every cell has a row of each, because a poll asks every cell: whether a queue has a
-- worker is decided beside the instances that wait in it. API processes write it; upkeep takes away what is an hour old.
create table queue_worker (
    since timestamptz not null,
    polled_at timestamptz not null,
    wanted integer not null,
    tenant_id uuid not null,
    queue text collate "C" not null,
    worker_id text collate "C" not null,
    client text,
    address text,
    process text not null,
    primary key (tenant_id, queue, worker_id)
) with (fillfactor = 50);
select raise_wall('queue_worker');
create policy platform on queue_worker
using ((select current_setting('horae.platform', true)) = 'on')
with check ((select current_setting('horae.platform', true)) = 'on');

grant select, insert, update, delete on queue_worker to horae_api;
grant select, delete, update on queue_worker to horae_engine;
grant select on queue_worker to horae_readonly;

-- migrate:down
drop table queue_worker;
