-- :before :limit
-- Zero rows: no channel at home here was removed before :before.
select c.shard_id, c.tenant_id, c.kind, c.name, c.id, c.body, c.changed_by, c.created_at, c.changed_at, c.version,
    c.paused_at
from channel c
where c.body is null and c.changed_at < :before
  and not exists (select from shard h where h.shard_id = c.shard_id and h.state <> 'ACTIVE')
order by c.changed_at limit :limit
