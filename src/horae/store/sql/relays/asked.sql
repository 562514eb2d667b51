-- Tasks that attempts asked for in a run of shards, transaction by transaction; none is cut in two.
select xid, shard_id, tenant_id, job_id, instance_id, at, body from outbox
where event = 'COMPENSATION_ASKED' and xid >= $3 and xid < $4 and shard_id between $1 and $2
order by xid
fetch first $5 rows with ties
