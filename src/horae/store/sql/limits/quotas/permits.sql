-- :shards :tenant_ids :keys :now
-- Zero rows: no node holds permits of these keys.
select h.key, sum(h.held)::bigint as held
from quota_hold h
join unnest(:shards::smallint[], :tenant_ids::uuid[], :keys::text[]) as asked (shard_id, tenant_id, key)
  on h.shard_id = asked.shard_id and h.tenant_id = asked.tenant_id and h.key = asked.key
where h.expires_at > :now
group by h.key
