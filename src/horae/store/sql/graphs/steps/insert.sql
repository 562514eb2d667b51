-- :shards :run_ids :tenant_ids :positions :names :now
-- No row for a step: it is there already, because its run goes on.
insert into graph_step (shard_id, run_id, tenant_id, position, name, changed_at)
select g.shard_id, g.run_id, g.tenant_id, g.position, g.name, :now
from unnest(:shards::text::smallint[], :run_ids::text::uuid[], :tenant_ids::text::uuid[], :positions::text::smallint[],
            :names::text::text[])
     as g(shard_id, run_id, tenant_id, position, name)
on conflict (shard_id, run_id, position) do nothing
returning position
