-- :tenant_id :before_created_at :before_instance_id :tag :error_code :replay_statuses :limit :cause_id
-- Newest first; a page begins behind the last letter of the one before.
select d.* from dead_letter d
where d.tenant_id = :tenant_id and (d.created_at, d.instance_id) < (:before_created_at, :before_instance_id)
  and (:tag::text is null or d.tag = :tag or :tag = any(d.tags))
  and (:error_code::text is null or d.error_code = :error_code)
  and (:cause_id::uuid is null or d.cause_id = :cause_id)
  and (:replay_statuses::text[] is null or d.replay_status = any(:replay_statuses))
order by d.created_at desc, d.instance_id desc
limit :limit
