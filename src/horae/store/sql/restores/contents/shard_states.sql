select s.shard_id, s.state from shard s
