-- :tenant_id :before_opened_at :before_id :state :kind :job :limit
-- A tenant's alerts in this cell, newest first, older than the last one seen.
select {alert_columns} from alert a
where a.tenant_id = :tenant_id and (a.opened_at, a.id) < (:before_opened_at::timestamptz, :before_id::uuid)
  and (:state::text is null
       or :state = case when a.resolved_at is not null then 'RESOLVED'
                        when a.acknowledged_at is not null then 'ACKNOWLEDGED' else 'OPEN' end)
  and (:kind::text is null or a.kind = :kind) and (:job::text is null or a.job = :job)
order by a.opened_at desc, a.id desc
limit :limit
