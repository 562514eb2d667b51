-- :tenant_id :after_created_at :after_instance_id :tag :error_code :job_id :limit :cause_id
-- What may be replayed, oldest first; a page begins behind the last letter of the one before. A letter whose key has
-- succeeded or gone on to a new generation since is none: nobody pays for it, and those behind it have their turn.
select d.* from dead_letter d
where d.tenant_id = :tenant_id and (d.created_at, d.instance_id) > (:after_created_at, :after_instance_id)
  and d.replay_status in ('NEW', 'DEAD_AGAIN')
  and (:tag::text is null or d.tag = :tag or :tag = any(d.tags))
  and (:error_code::text is null or d.error_code = :error_code)
  and (:cause_id::uuid is null or d.cause_id = :cause_id)
  and (:job_id::uuid is null or d.job_id = :job_id)
  and (d.business_key is null or exists (
      select from task_key k
      -- A list of one: by plain equalities PostgreSQL 18 reads all keys into a hash table before the first letter.
      where k.shard_id = any(array[d.shard_id]) and k.job_id = d.job_id and k.business_key = d.business_key
        and k.generation = d.generation and k.outcome <> 'SUCCESS'))
order by d.created_at, d.instance_id
limit :limit
