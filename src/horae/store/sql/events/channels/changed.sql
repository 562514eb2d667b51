-- :since :limit
-- Only what is at home here: a copy is never copied on. What changed in one moment is not cut in two.
select c.shard_id, c.tenant_id, c.kind, c.name, c.id, c.body, c.changed_by, c.created_at, c.changed_at, c.version,
    c.paused_at
from channel c
where c.changed_at >= :since
  and not exists (select from shard h where h.shard_id = c.shard_id and h.state <> 'ACTIVE')
order by c.changed_at
fetch first :limit rows with ties
