-- :now
-- Zero rows: everything that is open was seen not long ago.
update alert a set resolved_at = :now, next_message_at = null
where a.resolved_at is null and a.last_seen_at < :now::timestamptz - make_interval(secs => a.resolve_after)
returning {alert_columns}
