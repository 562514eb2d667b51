-- :shard :tenant_id :id :actor :now
-- Zero rows: the alert is resolved or acknowledged already, the tenant has none with that id, or the shard is closed.
update alert a set acknowledged_at = :now, acknowledged_by = :actor
where a.id = :id and a.tenant_id = :tenant_id and a.resolved_at is null and a.acknowledged_at is null and {fence}
returning {alert_columns}
