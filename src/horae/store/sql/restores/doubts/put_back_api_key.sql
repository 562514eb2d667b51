-- :content :now
-- Zero rows: the key is valid. A revoked key may have been deleted meanwhile: then it is written again.
insert into api_key as k
select (jsonb_populate_record(null::api_key,
    :content::jsonb || jsonb_build_object('version', (:content::jsonb ->> 'version')::int + 1000, 'changed_at', :now::timestamptz))).*
on conflict (shard_id, id) do update set revoked_at = null, changed_at = :now, version = k.version + 1
where k.revoked_at is not null
returning k.id
