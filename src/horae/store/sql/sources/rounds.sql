-- A source's rounds, newest first, before a number.
select r.* from source_round r
where r.shard_id = $1 and r.source_id = $2 and r.tenant_id = $3 and r.number < $4
order by r.number desc
limit $5
