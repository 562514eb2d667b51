-- Zero rows: the name is taken, or the shard is closed.
insert into tenant (shard_id, id, name, width, zone, created_at, layout)
select $1, $2, $3, $4, $5, $6, $7
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict do nothing
returning id
