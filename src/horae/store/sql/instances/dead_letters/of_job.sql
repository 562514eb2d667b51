-- :tenant_id :before_created_at :before_instance_id :tag :error_code :replay_statuses :limit :job_id :cause_id
-- The same for one job: a tenant's other dead letters are not in its way.
select d.* from dead_letter d
where d.job_id = :job_id and d.tenant_id = :tenant_id
  and (d.created_at, d.instance_id) < (:before_created_at, :before_instance_id)
  and (:tag::text is null or d.tag = :tag or :tag = any(d.tags))
  and (:error_code::text is null or d.error_code = :error_code)
  and (:cause_id::uuid is null or d.cause_id = :cause_id)
  and (:replay_statuses::text[] is null or d.replay_status = any(:replay_statuses))
order by d.created_at desc, d.instance_id desc
limit :limit
