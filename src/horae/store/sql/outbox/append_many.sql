insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
select $1, g.shard_id, g.tenant_id, g.job_id, g.instance_id, $2, g.body
from unnest($3::smallint[], $4::uuid[], $5::uuid[], $6::uuid[], $7::jsonb[]) as g(shard_id, tenant_id, job_id, instance_id, body)
