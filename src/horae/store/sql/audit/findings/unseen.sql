-- :seen_before :still_seen_before :limit
-- Open findings that were not looked at for a while, the oldest look first. A cursor that stood still may soon move.
select f.shard_id, f.job_id, f.fire_time, f.fault, f.found_at
from fire_finding f
where f.ended_at is null and f.seen_at < :still_seen_before
  and (f.seen_at < :seen_before or f.fault = 'STANDS_STILL')
  and exists (select from shard s where s.shard_id = f.shard_id and s.state = 'ACTIVE')
order by f.seen_at
limit :limit
