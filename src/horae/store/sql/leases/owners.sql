-- At most one row per node, and one without an owner for what nobody holds.
select owner, array_agg(shard_id) as shards from shard where state = 'ACTIVE' group by owner
