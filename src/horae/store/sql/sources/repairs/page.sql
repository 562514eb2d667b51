-- :source_id :tenant_id :before_id :round :limit
-- What a source found in this cell, newest first, older than the last one seen.
select r.id, r.at, r.round, r.business_key, r.found, r.decision, r.ours, r.theirs
from source_repair r
where r.source_id = :source_id and r.tenant_id = :tenant_id and r.id < :before_id
  and (:round::int is null or r.round = :round)
order by r.id desc
limit :limit
