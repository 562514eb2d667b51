-- :now :tenant_ids :kinds
-- Zero rows: everything that is open was seen not long ago, or its faults could not be looked for (by tenant and kind).
update alert a set resolved_at = :now, next_message_at = null
where a.resolved_at is null and a.last_seen_at < :now::timestamptz - make_interval(secs => a.resolve_after)
  and not exists (select from unnest(:tenant_ids::uuid[], :kinds::text[]) as u(tenant_id, kind)
                  where u.tenant_id = a.tenant_id and u.kind = a.kind)
returning {alert_columns}
