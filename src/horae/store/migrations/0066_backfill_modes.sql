-- migrate:up

-- A backfill can be paused, has a mode, an order and a rate, and may be a part of a backfill of many jobs.
-- `mode` is null where `rerun` says it. `decided_from` is set for newest first: everything from it on is decided.
-- `needed` is how many instances were expected at the start, `paced_to` up to when the rate is used.
alter table backfill
    add column paused_at timestamptz,
    add column decided_from timestamptz,
    add column paced_to timestamptz,
    add column rate double precision check (rate > 0),
    add column paused_s double precision not null default 0,
    add column needed integer,
    add column group_id uuid,
    add column mode text check (mode in ('missing', 'failed'));
-- squawk-ignore ban-drop-constraint
alter table backfill drop constraint backfill_status_check;
-- squawk-ignore ban-drop-constraint
alter table backfill drop constraint backfill_ended;
-- squawk-ignore constraint-missing-not-valid
alter table backfill add constraint backfill_status_check
    check (status in ('RUNNING', 'PAUSED', 'DONE', 'CANCELLED'));
-- squawk-ignore constraint-missing-not-valid
alter table backfill add constraint backfill_ended
    check ((status in ('RUNNING', 'PAUSED')) = (ended_at is null));

-- migrate:down
update backfill set status = 'RUNNING', paused_at = null where status = 'PAUSED';
-- squawk-ignore ban-drop-constraint
alter table backfill drop constraint backfill_status_check, drop constraint backfill_ended;
-- squawk-ignore constraint-missing-not-valid
alter table backfill add constraint backfill_status_check check (status in ('RUNNING', 'DONE', 'CANCELLED'));
-- squawk-ignore constraint-missing-not-valid
alter table backfill add constraint backfill_ended check ((status = 'RUNNING') = (ended_at is null));
-- squawk-ignore ban-drop-column
alter table backfill drop column paused_at, drop column decided_from, drop column paced_to, drop column rate;
-- squawk-ignore ban-drop-column
alter table backfill drop column paused_s, drop column needed, drop column group_id, drop column mode;
