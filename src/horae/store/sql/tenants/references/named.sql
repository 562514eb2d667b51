-- :tenant_id :kind :name
-- Zero rows: none of that kind and name is at home here.
select r.kind, r.id, r.tenant_id, r.home_shard, r.name, r.version, r.changed_at, r.body
from reference r
where r.tenant_id = :tenant_id and r.kind = :kind and r.name = :name
  and not exists (select from shard s where s.shard_id = r.home_shard and s.state <> 'ACTIVE')
