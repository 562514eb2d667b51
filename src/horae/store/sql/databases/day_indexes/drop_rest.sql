drop index concurrently if exists "{partition}_tenant"
