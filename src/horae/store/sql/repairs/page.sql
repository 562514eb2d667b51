-- What a source found in this cell, newest first, older than the last one seen.
select r.id, r.at, r.round, r.business_key, r.found, r.decision, r.ours, r.theirs
from source_repair r
where r.source_id = $1 and r.tenant_id = $2 and r.id < $3 and ($4::int is null or r.round = $4)
order by r.id desc
limit $5
