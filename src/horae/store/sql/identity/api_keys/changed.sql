-- :since :limit
-- Only what is at home here: a copy is never copied on. What changed in one moment is not cut in two.
select k.shard_id, k.id, k.tenant_id, k.name, k.digest, k.scopes, k.job_labels, k.created_by, k.expires_at,
       k.revoked_at, k.created_at, k.changed_at, k.version
from api_key k
where k.changed_at >= :since
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
order by k.changed_at
fetch first :limit rows with ties
