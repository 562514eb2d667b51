-- :content :now
-- Zero rows: somebody has given the secret a value meanwhile.
insert into secret as s
select (jsonb_populate_record(null::secret,
    :content::jsonb || jsonb_build_object('version', (:content::jsonb ->> 'version')::int + 1000, 'changed_at', :now::timestamptz))).*
on conflict (shard_id, tenant_id, name) do update
set sealed = excluded.sealed, hosts = excluded.hosts, changed_at = :now, version = s.version + 1
where s.sealed is null
returning s.name
