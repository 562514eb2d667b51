-- :tenant_id
-- Zero rows: the tenant is not at home here.
select r.kind, r.id, r.tenant_id, r.home_shard, r.name, r.version, r.changed_at, r.body
from reference r
where r.kind = 'tenant' and r.id = :tenant_id
  and not exists (select from shard s where s.shard_id = r.home_shard and s.state <> 'ACTIVE')
