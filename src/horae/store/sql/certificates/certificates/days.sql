-- :shard :tenant_id :since :until
-- The newest certificate of each day from `since` to `until` (excluded): its total and the number of its findings, as
-- they were signed, without jobs and evidence.
select c.day, c.revision, c.made_at, (c.body::json -> 'total')::text as total,
       json_array_length(c.body::json -> 'findings') as findings
from (
    select distinct on (day) day, revision from certificate
    where shard_id = :shard and tenant_id = :tenant_id and day >= :since and day < :until
    order by day, revision desc
) newest
join certificate c on (c.shard_id, c.tenant_id, c.day, c.revision)
                    = (:shard, :tenant_id, newest.day, newest.revision)
order by c.day
