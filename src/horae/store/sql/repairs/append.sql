-- No row for a finding: its shard is closed, and then nothing of it was done.
insert into source_repair (at, ours, theirs, round, shard_id, id, tenant_id, source_id, business_key, found, decision)
select $1, g.ours, g.theirs, $2, g.shard_id, g.id, $3, $4, g.business_key, g.found, g.decision
from unnest($5::smallint[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::timestamptz[], $11::timestamptz[])
     as g(shard_id, id, business_key, found, decision, ours, theirs)
where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning id
