-- :kinds :ids :tenant_ids :home_shards :names :versions :change_times :bodies
-- Fewer rows than given: the others are as new here, or newer, or of a tenant that was removed.
insert into reference as r (kind, id, tenant_id, home_shard, name, version, changed_at, body)
select * from unnest(:kinds::text[], :ids::uuid[], :tenant_ids::uuid[], :home_shards::smallint[], :names::text[],
                     :versions::int[], :change_times::timestamptz[], :bodies::jsonb[])
    as g(kind, id, tenant_id, home_shard, name, version, changed_at, body)
where g.kind = 'tenant' or {tenant_not_removed}
on conflict (kind, id) do update
set version = excluded.version, changed_at = excluded.changed_at, body = excluded.body
where r.version < excluded.version
returning id
