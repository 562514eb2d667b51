-- What these tenants have, as this cell's rows and copies say; without a value: it was removed.
select s.tenant_id, s.name, s.version, s.sealed, s.hosts
from unnest($1::smallint[], $2::uuid[]) as w(shard_id, tenant_id)
join secret s on (s.shard_id, s.tenant_id) = (w.shard_id, w.tenant_id)
