-- migrate:up

-- Only what may still happen. No foreign keys: they would lock the job's row at every fire.
create table instance_live (
    fire_time timestamptz not null,
    due_at timestamptz not null,
    changed_at timestamptz not null,
    deadline timestamptz,
    intent_version bigint,
    job_version integer not null,
    attempt integer not null default 0 check (attempt >= 0),
    retry_count integer not null default 0 check (retry_count >= 0),
    slot_ms integer not null check (slot_ms > 0),
    held_ms integer not null default 0,
    trigger_delay_ms integer,
    generation integer,
    shard_id smallint not null,
    priority smallint not null check (priority between 0 and 2),
    lane smallint not null check (lane between 0 and 2),
    crash_count smallint not null default 0,
    id uuid not null,
    tenant_id uuid not null,
    job_id uuid not null,
    token uuid,
    owner uuid,
    replay_of uuid,
    state text not null constraint instance_live_state check (state in ('INIT', 'BLOCKED', 'RUNNING', 'FAIL')),
    idem_key text not null,
    business_key text,
    queue text,
    worker_id text,
    error_msg text,
    payload jsonb,
    attempts jsonb,
    primary key (shard_id, id),
    constraint instance_live_running check ((state = 'RUNNING') = (token is not null and deadline is not null)),
    constraint instance_live_owner check (state = 'RUNNING' or (token is null and deadline is null and owner is null and worker_id is null)),
    constraint instance_live_attempted check (state <> 'RUNNING' or attempt > 0),
    constraint instance_live_failed check (state <> 'FAIL' or retry_count > 0),
    constraint instance_live_key check ((business_key is null) = (generation is null))
) with (
    fillfactor = 90,
    -- Upkeep vacuums it every few seconds. When autovacuum comes by it must not dawdle: ours would wait behind it.
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 20000
);
create unique index instance_live_idem on instance_live (idem_key, (shard_id::int));
create unique index instance_live_business on instance_live (shard_id, job_id, business_key) where business_key is not null;
-- What we push ourselves, and what waits for a worker of its queue: never in each other's way.
create index instance_live_due on instance_live (priority, lane, due_at, (shard_id::int), id) where state in ('INIT', 'FAIL') and queue is null;
create index instance_live_queue on instance_live (tenant_id, queue, priority, lane, due_at) where state in ('INIT', 'FAIL') and queue is not null;
create index instance_live_deadline on instance_live (deadline, id) where state = 'RUNNING';

-- Append-only: one row when an instance ends. It is the event of the end.
create table instance_history (
    ended_at timestamptz not null,
    fire_time timestamptz not null,
    due_at timestamptz not null,
    range_to timestamptz,
    xid bigint not null default txid_current(),
    job_version integer not null,
    attempt integer not null,
    retry_count integer not null,
    held_ms integer not null default 0,
    trigger_delay_ms integer,
    duration_ms integer,
    range_count integer,
    generation integer,
    shard_id smallint not null,
    priority smallint not null,
    lane smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    job_id uuid not null,
    state text not null constraint instance_history_state check (state in ('SUCCESS', 'DEAD', 'CANCELLED', 'SKIPPED')),
    idem_key text not null,
    reason text,
    business_key text,
    worker_id text,
    error_code text,
    error_msg text,
    payload jsonb,
    attempts jsonb,
    constraint instance_history_reason check ((state = 'SKIPPED') = (reason is not null)),
    constraint instance_history_dead check ((state = 'DEAD') = (error_code is not null)),
    constraint instance_history_clean check (state <> 'SUCCESS' or error_msg is null),
    constraint instance_history_range check ((range_to is null) = (range_count is null) and (range_to is null or state = 'SKIPPED'))
) partition by range (ended_at);
create index instance_history_job on instance_history (job_id, fire_time);
create index instance_history_id on instance_history (id);
create index instance_history_xid on instance_history using brin (xid);

-- The permanent ledger of each business key: it remembers a success after the run is archived.
create table task_key (
    updated_at timestamptz not null,
    intent_version bigint,
    revision bigint not null default 1,
    generation integer not null check (generation > 0),
    shard_id smallint not null,
    job_id uuid not null,
    tenant_id uuid not null,
    instance_id uuid not null,
    business_key text not null,
    outcome text check (outcome in ('SUCCESS', 'DEAD', 'CANCELLED', 'SKIPPED')),
    decisions jsonb not null default '[]',
    primary key (shard_id, job_id, business_key)
) with (fillfactor = 70);

-- One letter per intended effect: a replay that dies again answers to the letter it came from.
create table dead_letter (
    fire_time timestamptz not null,
    created_at timestamptz not null,
    job_version integer not null,
    generation integer,
    shard_id smallint not null,
    instance_id uuid not null,
    tenant_id uuid not null,
    job_id uuid not null,
    replay_id uuid,
    idem_key text not null,
    business_key text,
    error_code text not null,
    error_msg text,
    tag text,
    replay_status text not null default 'NEW' check (replay_status in ('NEW', 'REPLAYING', 'REPLAYED', 'DEAD_AGAIN', 'DISCARDED')),
    payload jsonb,
    primary key (shard_id, instance_id),
    constraint dead_letter_replaying check (replay_status <> 'REPLAYING' or replay_id is not null),
    constraint dead_letter_key check ((business_key is null) = (generation is null))
) with (fillfactor = 90);
create index dead_letter_tenant on dead_letter (tenant_id, created_at, instance_id);
create index dead_letter_job on dead_letter (job_id, created_at, instance_id);
create index dead_letter_open on dead_letter (tenant_id, created_at, instance_id) where replay_status in ('NEW', 'DEAD_AGAIN');

-- What leaves no history row: created, moved, failed attempt, definition changes.
create table outbox (
    at timestamptz not null,
    xid bigint not null default txid_current(),
    shard_id smallint not null,
    tenant_id uuid not null,
    job_id uuid,
    instance_id uuid,
    event text not null,
    body jsonb not null
) partition by range (at);
create index outbox_xid on outbox using brin (xid);

create table audit_log (
    at timestamptz not null,
    xid bigint not null default txid_current(),
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    actor text not null,
    action text not null,
    resource text not null,
    detail jsonb not null,
    primary key (shard_id, id)
);
create index audit_log_tenant on audit_log (tenant_id, at);

create table idempotency (
    created_at timestamptz not null,
    expires_at timestamptz not null,
    shard_id smallint not null,
    tenant_id uuid not null,
    instance_id uuid,
    route text not null,
    resource text not null,
    key text not null check (length(key) between 1 and 200),
    fingerprint bytea not null,
    answer jsonb,
    primary key (shard_id, tenant_id, route, resource, key)
);
create index idempotency_expires on idempotency (expires_at);

-- Daily partitions, made ahead and dropped whole. No DEFAULT partition: it would hide a missing day and block the next.
create function ensure_partitions(first_day date, days integer) returns integer
language plpgsql set search_path from current as $$
declare
    parent text;
    day date;
    made integer := 0;
begin
    foreach parent in array array['instance_history', 'outbox'] loop
        for day in select first_day + n from generate_series(0, days - 1) n loop
            if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
                execute format('create table %I partition of %I for values from (%L) to (%L)',
                    format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
                    (day::timestamp at time zone 'UTC'), ((day + 1)::timestamp at time zone 'UTC'));
                made := made + 1;
            end if;
        end loop;
    end loop;
    return made;
end $$;

-- migrate:down
drop function ensure_partitions(date, integer);
drop table idempotency, audit_log, outbox, dead_letter, task_key, instance_history, instance_live;
