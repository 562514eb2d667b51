-- Fewer rows than given: the others are as new here, or newer.
insert into reference as r (kind, id, tenant_id, home_shard, name, version, changed_at, body)
select * from unnest($1::text[], $2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::int[], $7::timestamptz[], $8::jsonb[])
on conflict (kind, id) do update
set version = excluded.version, changed_at = excluded.changed_at, body = excluded.body
where r.version < excluded.version
returning id
