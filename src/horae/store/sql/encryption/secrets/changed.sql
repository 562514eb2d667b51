-- :since :limit
-- Only what is at home here: a copy is never copied on. What changed in one moment is not cut in two.
select s.shard_id, s.tenant_id, s.name, s.sealed, s.changed_by, s.changed_at, s.version, s.hosts
from secret s
where s.changed_at >= :since
  and not exists (select from shard h where h.shard_id = s.shard_id and h.state <> 'ACTIVE')
order by s.changed_at
fetch first :limit rows with ties
