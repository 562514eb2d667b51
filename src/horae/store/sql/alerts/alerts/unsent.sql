-- :now :tenant_ids :limit
-- Open alerts of the given tenants whose next message is due. Nothing is repeated to people who know of it.
select {alert_columns} from alert a
where a.resolved_at is null and a.next_message_at <= :now and (a.acknowledged_at is null or not a.announced)
  and a.tenant_id = any(:tenant_ids::uuid[])
order by a.next_message_at
limit :limit
