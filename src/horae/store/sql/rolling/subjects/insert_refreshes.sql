-- :shards :keys :instance_ids :idem_keys :due_times :job_id :batch_no :job_version :fire_time :now :priority :slot_ms :queue
-- No row for a subject: this batch does not hold it. Its own transaction has just occupied it.
with authorised as (
    update subject u
    set instance_id = g.id
    from unnest(:shards::text::smallint[], :keys::text::text[], :instance_ids::text::uuid[], :idem_keys::text::text[],
                :due_times::text::timestamptz[])
         as g(shard_id, key, id, idem_key, due_at)
    where u.shard_id = any(array[g.shard_id])
      and u.job_id = {batch_job} and u.key between g.key and g.key
      and u.batch_no is not distinct from :batch_no     -- nobody else has ever used this number; no index goes by it
    returning g.shard_id, g.key, g.id, g.idem_key, g.due_at, u.tenant_id)
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, state, business_key, generation)
select shard_id, id, tenant_id, :job_id, :job_version, idem_key, :fire_time, due_at, :now, :priority, 0, :slot_ms,
       :queue, 'INIT', key, 0
from authorised
returning id
