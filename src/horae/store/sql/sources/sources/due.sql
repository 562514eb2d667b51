-- :now :limit :without_tenant_ids
-- Sources with something to do now, the longest due first, without those of some tenants; zero rows: none has. A paused
-- one has dry rounds only.
select s.* from source s
where s.next_at <= :now
  and (s.paused_at is null or s.asked = 'dry' or (s.asked is null and s.running and s.dry))
  and s.tenant_id <> all(:without_tenant_ids)
  and not exists (select from shard f where f.shard_id = s.shard_id and f.state <> 'ACTIVE')
order by s.next_at
limit :limit
