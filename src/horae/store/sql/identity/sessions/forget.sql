-- :expired_before :limit
-- Zero rows: none has been over for a day, or its shard is moving.
with over_ as materialized (
    select v.shard_id, v.id from session v
    where v.expires_at <= :expired_before
      and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
    order by v.expires_at limit :limit
    for update skip locked)
delete from session v using over_ where (v.shard_id, v.id) = (over_.shard_id, over_.id)
returning v.id
