-- :before :limit
-- Zero rows: no secret at home here was removed before :before.
select s.shard_id, s.tenant_id, s.name, s.sealed, s.changed_by, s.changed_at, s.version, s.hosts
from secret s
where s.sealed is null and s.changed_at < :before
  and not exists (select from shard h where h.shard_id = s.shard_id and h.state <> 'ACTIVE')
order by s.changed_at limit :limit
