-- :shard :tenant_id :now
-- Its own transaction has just written the tenant's row: the copy says the same. Of a tenant that was purged nothing is
-- left to be held: its copy only says that it is gone.
insert into reference as r (kind, id, tenant_id, home_shard, name, version, changed_at, body)
select 'tenant', t.id, t.id, t.shard_id, t.name, 1, :now,
       jsonb_build_object('id', t.id, 'name', t.name, 'width', t.width, 'zone', t.zone, 'layout', t.layout,
                          'former', t.former, 'allowance', t.allowance)
       || case when t.purged_at is not null then jsonb_build_object('purged', true)
               when t.status = 'ACTIVE' and t.paused_until is null then '{}'
               else jsonb_build_object('held', jsonb_build_object('status', t.status, 'until', t.paused_until)) end
from tenant t
where t.shard_id = :shard and t.id = :tenant_id
on conflict (kind, id) do update set version = r.version + 1, changed_at = excluded.changed_at, body = excluded.body
