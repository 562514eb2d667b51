-- :tenant_id :job_id :shards :before_fire_time :before_id :since :until :states :business_key :scan_limit :limit :spread
-- Always a row. `walked_at` is set when so many ended ones were looked at and there may be more behind the last of
-- them.
-- `is not distinct from`: no index fits it, so that of the tenant is not taken for that of the job.
-- :spread: the job is spread, so each of its live rows has a key; they are found by it among all others of their
-- shards.
with scanned as materialized (
    select {listed_history_columns}
    from instance_history h
    where h.job_id = :job_id and h.tenant_id is not distinct from :tenant_id
      and (h.fire_time, h.id) < (:before_fire_time, :before_id)
      and h.fire_time >= :since and h.fire_time < :until
    order by h.fire_time desc, h.id desc
    limit :scan_limit),
{walked},
every as (
    select * from (
        (select {listed_live_columns}
         from (select * from instance_live
               where :spread and shard_id = any(:shards::smallint[]) and job_id = :job_id and business_key is not null
               union all
               select * from instance_live
               where not :spread and shard_id = any(:shards::smallint[]) and job_id = :job_id) l
         where l.tenant_id = :tenant_id
           and not exists (select from shard s where s.shard_id = l.shard_id and s.state <> 'ACTIVE')  -- it has moved
           and (l.fire_time, l.id) < (:before_fire_time, :before_id)
           and l.fire_time >= :since and l.fire_time < :until
           and (:states::text[] = '{}' or l.state = any(:states))
           and (:business_key::text is null or l.business_key = :business_key)
         order by l.fire_time desc, l.id desc
         limit :limit)
        union all
        {matching_scanned}
    ) u
    order by fire_time desc, id desc
    limit :limit)
{page_and_walked}
