-- :content :now
-- Zero rows: somebody has given roles to the principal meanwhile.
insert into role_binding as b
select (jsonb_populate_record(null::role_binding,
    :content::jsonb || jsonb_build_object('version', (:content::jsonb ->> 'version')::int + 1000, 'changed_at', :now::timestamptz))).*
on conflict (shard_id, tenant_id, principal) do update
set roles = excluded.roles, changed_at = :now, version = b.version + 1
where cardinality(b.roles) = 0
returning b.principal
