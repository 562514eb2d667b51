-- :shard :id :now
-- Zero rows: another process said so within the minute, or the shard is moving. It is no change worth a copy.
update api_key k
set last_used_at = :now::timestamptz
where k.shard_id = :shard and k.id = :id
  and (k.last_used_at is null or k.last_used_at < :now::timestamptz - interval '1 minute')
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
returning k.id
