-- The row `j` of a job and where its cursor `c` stands.
j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, j.definition, j.changed_at, c.next_fire_at
