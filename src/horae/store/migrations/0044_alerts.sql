-- migrate:up

-- Alert channels, alert rules and silences are rows of a tenant that every cell has copies of, as subscriptions are: a
-- cell that is down stops the alerts of no other cell.
-- squawk-ignore ban-drop-constraint
alter table channel drop constraint channel_kind_check;
alter table channel add constraint channel_kind_check
    check (kind in ('subscription', 'intake', 'alert_channel', 'alert_rule', 'silence')) not valid;

-- Up to which transaction the alert rules have read the history of this cell.
create table alert_position (
    moved_at timestamptz not null,
    xid bigint not null,
    only_row boolean primary key default true check (only_row)
);

-- What a rule found in this cell, a row for each group: open until `resolved_at`, which is `resolve_after` seconds after
-- it was seen last. `adds`: `count` adds up what was found, otherwise it is the last figure. `sequence` counts the
-- messages; `announced`: one of them was not silenced. The next one is due at `next_message_at`.
create table alert (
    opened_at timestamptz not null,
    last_seen_at timestamptz not null,
    messaged_at timestamptz,
    next_message_at timestamptz,
    acknowledged_at timestamptz,
    resolved_at timestamptz,
    count bigint not null check (count > 0),
    sequence integer not null default 0,
    resolve_after integer not null,
    repeat_after integer not null,
    id uuid primary key,
    tenant_id uuid not null,
    job_id uuid,
    adds boolean not null,
    announced boolean not null default false,
    rule text not null,
    kind text not null,
    severity text not null,
    group_key text not null check (length(group_key) <= 500),
    job text,
    owner text,
    reason text not null check (length(reason) <= 1000),
    runbook text,
    acknowledged_by text,
    channels text[] not null,
    labels jsonb not null default '{}'
) with (fillfactor = 70);
create unique index alert_open on alert (tenant_id, rule, group_key) where resolved_at is null;
create index alert_tenant on alert (tenant_id, opened_at, id);
create index alert_resolved on alert (resolved_at) where resolved_at is not null;
select raise_wall('alert');

-- What an alert says to one channel, as it was when it was written: a later attempt sends the same under the same id.
create table alert_message (
    created_at timestamptz not null,
    next_try_at timestamptz,
    sent_at timestamptz,
    sequence integer not null,
    attempts integer not null default 0,
    alert_id uuid not null,
    tenant_id uuid not null,
    channel text not null,
    state text not null check (state in ('PENDING', 'SENT', 'SILENCED', 'FAILED')),
    error text,
    body jsonb not null,
    primary key (alert_id, sequence, channel),
    constraint alert_message_pending check ((state = 'PENDING') = (next_try_at is not null))
) with (fillfactor = 70);
create index alert_message_pending on alert_message (tenant_id, channel, created_at) where state = 'PENDING';
create index alert_message_sent on alert_message (tenant_id, channel, sent_at) where sent_at is not null;
select raise_wall('alert_message');

grant select on alert, alert_message to horae_api, horae_readonly;
grant insert on alert_message to horae_api;
grant update (acknowledged_at, acknowledged_by) on alert to horae_api;

-- migrate:down
drop table alert_message, alert, alert_position;
delete from channel where kind in ('alert_channel', 'alert_rule', 'silence');
-- squawk-ignore ban-drop-constraint
alter table channel drop constraint channel_kind_check;
alter table channel add constraint channel_kind_check check (kind in ('subscription', 'intake')) not valid;
