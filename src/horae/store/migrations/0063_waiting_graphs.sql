-- migrate:up
-- without transaction

-- The runs of graphs that no node has started yet; nodes look for them in all tenants at once.
drop index concurrently if exists instance_live_graphs;
create index concurrently instance_live_graphs on instance_live (due_at, (shard_id::int), id)
where queue = 'horae.graphs' and state in ('INIT', 'FAIL');

-- migrate:down
drop index concurrently instance_live_graphs;
