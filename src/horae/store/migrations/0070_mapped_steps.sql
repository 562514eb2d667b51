-- migrate:up

-- A mapped step has a child for each element of its list. `children` is how many; null: it has not started, or is not mapped.
alter table graph_step add column children integer check (children >= 0);
-- squawk-ignore ban-drop-constraint
alter table graph_step drop constraint graph_step_released;
-- squawk-ignore constraint-missing-not-valid
alter table graph_step add constraint graph_step_released
check (state <> 'RELEASED' or instance_id is not null or children is not null);

-- The children of a mapped step. `number` is the place of its element in the list.
create table graph_child (
    changed_at timestamptz not null,
    number integer not null,
    shard_id smallint not null,
    position smallint not null,
    run_id uuid not null,
    tenant_id uuid not null,
    instance_id uuid,
    state text not null default 'WAITING' check (state in ('WAITING', 'RELEASED', 'SUCCESS', 'DEAD', 'CANCELLED',
        'SKIPPED')),
    reason text,
    primary key (shard_id, run_id, position, number),
    constraint graph_child_released check (state <> 'RELEASED' or instance_id is not null)
) with (fillfactor = 70);
create index graph_child_unsuccessful on graph_child (shard_id, run_id, position, state, number)
where state <> 'SUCCESS';
create index graph_child_live on graph_child (shard_id, instance_id) where state = 'RELEASED';
select raise_wall('graph_child');

grant select, update, delete on graph_child to horae_api;
grant select, insert, update, delete on graph_child to horae_engine;
grant select on graph_child to horae_readonly;

-- migrate:down
drop table graph_child;
update graph_step set state = 'DEAD' where state = 'RELEASED' and instance_id is null;
-- squawk-ignore ban-drop-constraint
alter table graph_step drop constraint graph_step_released;
-- squawk-ignore constraint-missing-not-valid
alter table graph_step add constraint graph_step_released check (state <> 'RELEASED' or instance_id is not null);
-- squawk-ignore ban-drop-column
alter table graph_step drop column children;
