-- :now :round :tenant_id :source_id :shards :repair_ids :business_keys :findings :decisions :our_times :their_times
-- No row for a finding: its shard is closed, and then nothing of it was done.
insert into source_repair (at, ours, theirs, round, shard_id, id, tenant_id, source_id, business_key, found, decision)
select :now, g.ours, g.theirs, :round, g.shard_id, g.id, :tenant_id, :source_id, g.business_key, g.found, g.decision
from unnest(:shards::smallint[], :repair_ids::uuid[], :business_keys::text[], :findings::text[], :decisions::text[],
            :our_times::timestamptz[], :their_times::timestamptz[])
     as g(shard_id, id, business_key, found, decision, ours, theirs)
where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning id
