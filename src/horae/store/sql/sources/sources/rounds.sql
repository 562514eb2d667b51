-- :shard :source_id :tenant_id :before_number :limit
-- A source's rounds, newest first, before a number.
select r.* from source_round r
where r.shard_id = :shard and r.source_id = :source_id and r.tenant_id = :tenant_id and r.number < :before_number
order by r.number desc
limit :limit
