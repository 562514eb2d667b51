-- :shard :run_id :tenant_id
-- Zero rows: no mapped step of the run has started, or their lists were empty.
select t.position, t.state, count(*)::int as children
from graph_child t
where t.shard_id = :shard and t.run_id = :run_id and t.tenant_id = :tenant_id
group by t.position, t.state
