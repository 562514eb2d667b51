-- :tenant_id :shards :before_fire_time :before_id :since :until :states :business_key :scan_limit :limit
-- Always a row. `walked_at` is set when so many ended ones were looked at and there may be more behind the last of
-- them.
with scanned as materialized (
    select {listed_history_columns}
    from instance_history h
    where h.tenant_id = :tenant_id and (h.fire_time, h.id) < (:before_fire_time, :before_id)
      and h.fire_time <= :before_fire_time and h.fire_time >= :since and h.fire_time < :until
    order by h.fire_time desc, h.id desc
    limit :scan_limit),
{walked},
every as (
    select * from (
        (select {listed_live_columns}
         from instance_live l
         where l.shard_id = any(:shards::smallint[]) and l.tenant_id = :tenant_id
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
