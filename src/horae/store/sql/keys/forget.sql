-- Zero rows: none was revoked before $1; $2 says whether of those at home here, or of the copies.
delete from api_key k
where k.revoked_at is not null and k.changed_at < $1
  and $2 = not exists (select from shard h where h.shard_id = k.shard_id and h.state <> 'ACTIVE')
returning k.id
