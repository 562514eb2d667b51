-- :before :limit
-- Zero rows: no principal at home here lost its last role before :before.
select b.shard_id, b.tenant_id, b.principal, b.roles, b.changed_at, b.version
from role_binding b
where cardinality(b.roles) = 0 and b.changed_at < :before
  and not exists (select from shard h where h.shard_id = b.shard_id and h.state <> 'ACTIVE')
order by b.changed_at limit :limit
