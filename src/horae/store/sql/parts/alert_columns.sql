-- The columns of an alert `a`, in the order of `Alert`.
a.id, a.tenant_id, a.rule, a.kind, a.severity, a.group_key, a.job_id, a.job, a.owner, a.labels, a.runbook, a.reason,
a.count, a.sequence, a.announced, a.channels, a.repeat_after as repeat_after_s, a.opened_at, a.last_seen_at,
a.messaged_at, a.acknowledged_at, a.acknowledged_by, a.resolved_at
