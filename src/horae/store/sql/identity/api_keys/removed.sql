-- :before :limit
-- Zero rows: no key at home here was revoked before :before.
select k.shard_id, k.id, k.tenant_id, k.name, k.digest, k.scopes, k.job_labels, k.created_by, k.expires_at,
       k.revoked_at, k.created_at, k.changed_at, k.version
from api_key k
where k.revoked_at is not null and k.changed_at < :before
  and not exists (select from shard h where h.shard_id = k.shard_id and h.state <> 'ACTIVE')
order by k.changed_at limit :limit
