-- :now :limit
-- Zero rows: none has expired, or its shard is moving. One that is being used anew just now is passed over.
with expired as materialized (
    select i.ctid from idempotency i
    where i.expires_at <= :now
      and not exists (select from shard s where s.shard_id = i.shard_id and s.state <> 'ACTIVE')
    order by i.expires_at limit :limit
    for update skip locked)
delete from idempotency i using expired where i.ctid = expired.ctid
returning i.shard_id
