-- Zero rows: nothing was removed before $1; $2 says whether of what is at home here, or of the copies.
delete from channel c
where c.body is null and c.changed_at < $1
  and $2 = not exists (select from shard h where h.shard_id = c.shard_id and h.state <> 'ACTIVE')
returning c.name
