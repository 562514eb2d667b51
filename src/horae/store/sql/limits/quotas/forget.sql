-- :before :now :limit
-- Zero rows: all were used since, or their shard is moving. A bucket that nobody has used for so long is full, and a new one
-- begins full.
with old as materialized (
    select b.ctid from quota_bucket b
    where b.refilled_at < :before
      and not exists (select from quota_hold h where h.shard_id = b.shard_id and h.tenant_id = b.tenant_id
                      and h.key = b.key and h.expires_at > :now)
      and not exists (select from shard s where s.shard_id = b.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked),
holds as (
    delete from quota_hold h using old, quota_bucket b
    where b.ctid = old.ctid and h.shard_id = b.shard_id and h.tenant_id = b.tenant_id and h.key = b.key)
delete from quota_bucket b using old where b.ctid = old.ctid
returning b.shard_id
