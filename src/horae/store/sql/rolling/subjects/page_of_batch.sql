-- :job_id :tenant_id :batch_no :status :after_key :limit :first_key :end_key
-- A page of the subjects that a batch took last, in this cell, in the order of their keys, after the last one seen: those
-- from :first_key up to :end_key, of a status where it is not null. A batch has at most a thousand subjects.
select {subject_columns}, {subject_status} as status from subject u
where u.batch_no = :batch_no and u.job_id = :job_id and u.tenant_id = :tenant_id
  and (:status::int is null or {subject_status} = :status) and u.key > :after_key and u.key >= :first_key
  and u.key < :end_key
order by u.key
limit :limit
