-- :tenant_id :paced_replay_id :until :tag :error_code :job_id :cause_id :limit
-- The next dead letters of a paced replay in this cell, oldest first. Zero rows: it has taken all that match. A dead
-- letter that it has taken before is none, whatever became of it.
select d.* from dead_letter d
where d.tenant_id = :tenant_id and d.created_at <= :until and d.replay_status in ('NEW', 'DEAD_AGAIN')
  and d.paced_replay_id is distinct from :paced_replay_id
  and (:tag::text is null or d.tag = :tag or :tag = any(d.tags))
  and (:error_code::text is null or d.error_code = :error_code)
  and (:job_id::uuid is null or d.job_id = :job_id)
  and (:cause_id::uuid is null or d.cause_id = :cause_id)
order by d.created_at, d.instance_id
limit :limit
