-- Zero rows: it was dealt with, or the shard is moving.
delete from parked p
where p.shard_id = $1 and p.id = $2 and p.tenant_id = $3
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning p.id
