-- Fewer rows than given: the others are as new here, or newer, or of a tenant that was removed.
insert into reference as r (kind, id, tenant_id, home_shard, name, version, changed_at, body)
select * from unnest($1::text[], $2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::int[], $7::timestamptz[], $8::jsonb[])
    as g(kind, id, tenant_id, home_shard, name, version, changed_at, body)
where g.kind = 'tenant' or not exists (
    select from reference t
    where t.kind = 'tenant' and t.id = g.tenant_id
      and (t.body ? 'purged' or t.body -> 'held' ->> 'status' = 'REMOVED'))
on conflict (kind, id) do update
set version = excluded.version, changed_at = excluded.changed_at, body = excluded.body
where r.version < excluded.version
returning id
