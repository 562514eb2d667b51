-- :tenant_id :after_name :limit
-- The tenant's sources in this cell by the name of their type, after the last one seen.
select s.* from source s
where s.tenant_id = :tenant_id and s.name collate "C" > :after_name
  and not exists (select from shard f where f.shard_id = s.shard_id and f.state <> 'ACTIVE')
order by s.name collate "C"
limit :limit
