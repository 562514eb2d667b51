-- :shards :tenant_ids :keys :now
-- Zero rows: nobody else has or wants anything of these keys.
select h.shard_id, h.tenant_id, h.key, h.incarnation, h.held, h.wanted, h.asked, h.served_at, h.seen_at
from quota_hold h
join unnest(:shards::smallint[], :tenant_ids::uuid[], :keys::text[]) as asked (shard_id, tenant_id, key)
  on h.shard_id = asked.shard_id and h.tenant_id = asked.tenant_id and h.key = asked.key
where h.expires_at > :now
