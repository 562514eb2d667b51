-- :tenant_id :after_created_at :after_instance_id :tag :error_code :job_id :limit :cause_id
-- Open dead letters, oldest first, whatever became of their keys; a page begins behind the last of the one before.
select d.* from dead_letter d
where d.tenant_id = :tenant_id and (d.created_at, d.instance_id) > (:after_created_at, :after_instance_id)
  and d.replay_status in ('NEW', 'DEAD_AGAIN')
  and (:tag::text is null or d.tag = :tag or :tag = any(d.tags))
  and (:error_code::text is null or d.error_code = :error_code)
  and (:cause_id::uuid is null or d.cause_id = :cause_id)
  and (:job_id::uuid is null or d.job_id = :job_id)
order by d.created_at, d.instance_id
limit :limit
