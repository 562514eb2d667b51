-- The tenants whose home is this cell and that are not removed, with the version of the cell's own copy.
select to_jsonb(t) || jsonb_build_object('copy_version', coalesce(r.version, 0)) as content
from tenant t
left join reference r on r.kind = 'tenant' and r.id = t.id
where t.status <> 'REMOVED'
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
