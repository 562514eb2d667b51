-- :since :limit
-- Only what is at home here: a copy is never copied on. What changed in one moment is not cut in two.
select r.kind, r.id, r.tenant_id, r.home_shard, r.name, r.version, r.changed_at, r.body
from reference r
where r.changed_at >= :since
  and not exists (select from shard s where s.shard_id = r.home_shard and s.state <> 'ACTIVE')
order by r.changed_at
fetch first :limit rows with ties
