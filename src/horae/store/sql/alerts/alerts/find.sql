-- :tenant_id :id
-- No row: the tenant has no such alert in this cell.
select {alert_columns} from alert a where a.id = :id and a.tenant_id = :tenant_id
