-- A page of a tenant's live payloads that its newest key has not sealed, after the last row seen.
select l.shard_id, l.id, l.job_id, l.idem_key, l.payload
from instance_live l
where l.shard_id = any($1::smallint[]) and (l.shard_id, l.id) > ($2, $3)
  and l.tenant_id = $4 and l.payload is not null and coalesce(l.payload ->> '$sealed', '') not like $5
order by l.shard_id, l.id limit $6
