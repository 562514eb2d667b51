-- :since :limit
-- Only what is at home here: a copy is never copied on. What changed in one moment is not cut in two.
select b.shard_id, b.tenant_id, b.principal, b.roles, b.changed_at, b.version
from role_binding b
where b.changed_at >= :since
  and not exists (select from shard s where s.shard_id = b.shard_id and s.state <> 'ACTIVE')
order by b.changed_at
fetch first :limit rows with ties
