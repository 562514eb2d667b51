-- :limit
-- Zero rows: the failure cause of every open dead letter is known.
select d.shard_id, d.instance_id, d.job_id, d.error_code, d.error_msg, d.replay_id from dead_letter d
where d.cause_id is null and d.replay_status in ('NEW', 'DEAD_AGAIN')
  -- Those of a shard that moves are sorted where it is open: here they would be found again and again.
  and not exists (select from shard s where s.shard_id = d.shard_id and s.state <> 'ACTIVE')
limit :limit
