create index concurrently "{partition}_tenant" on "{partition}" (tenant_id, fire_time)
