-- :before :limit
-- Zero rows: none is so old, or its shard is moving. Tenant by tenant, each found by the index behind the one before, so
-- that nothing is read of those that stay. One that is being replayed stays until that has ended.
with recursive owner as (
    (select d.tenant_id from dead_letter d order by d.tenant_id limit 1)
    union all
    select (select d.tenant_id from dead_letter d where d.tenant_id > o.tenant_id order by d.tenant_id limit 1)
    from owner o where o.tenant_id is not null),
old as materialized (
    select d.shard_id, d.instance_id
    from owner o
    cross join lateral (
        select d.shard_id, d.instance_id from dead_letter d
        where d.tenant_id = o.tenant_id and d.created_at < :before and d.replay_status <> 'REPLAYING'
          and not exists (select from shard s where s.shard_id = d.shard_id and s.state <> 'ACTIVE')
        order by d.created_at limit :limit) d
    limit :limit)
delete from dead_letter d using old
where d.shard_id = old.shard_id and d.instance_id = old.instance_id and d.created_at < :before
  and d.replay_status <> 'REPLAYING'
returning d.shard_id
