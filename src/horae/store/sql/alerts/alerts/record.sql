-- :rows :now :quiet
-- Fewer rows than given: a state that was seen less than 10 s ago is not written again.
-- A group whose last alert sent a message within :quiet waits for the rest of that time with its next one.
insert into alert as a (id, tenant_id, rule, kind, severity, group_key, job_id, job, owner, labels, runbook, reason,
    count, adds, channels, repeat_after, resolve_after, opened_at, last_seen_at, next_message_at)
select g.id, g.tenant_id, g.rule, g.kind, g.severity, g.group_key, g.job_id, g.job, g.owner, g.labels, g.runbook,
       g.reason, g.count, g.adds, g.channels, g.repeat_after, g.resolve_after, :now, :now,
       greatest(:now::timestamptz, (
           select max(b.messaged_at) + :quiet from alert b
           where b.resolved_at > :now::timestamptz - :quiet::interval and b.announced
             and (b.tenant_id, b.rule, b.group_key) = (g.tenant_id, g.rule, g.group_key)))
from jsonb_populate_recordset(null::alert, :rows) g
where {tenant_not_removed}
on conflict (tenant_id, rule, group_key) where resolved_at is null do update
set count = case when a.adds then a.count + excluded.count else excluded.count end, reason = excluded.reason,
    last_seen_at = excluded.last_seen_at, channels = excluded.channels, severity = excluded.severity,
    repeat_after = excluded.repeat_after, resolve_after = excluded.resolve_after
where a.adds or a.last_seen_at <= excluded.last_seen_at - interval '10 seconds'
returning a.id
