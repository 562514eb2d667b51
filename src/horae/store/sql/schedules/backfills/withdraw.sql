-- :shard :job_id :range_from :range_to :now :key_suffix
-- Zero rows: nothing of this backfill waits. What is RUNNING goes on. The keys of a re-run end with its own id
-- (:key_suffix).
with ended as (
    delete from instance_live l
    where l.shard_id = :shard and l.job_id = :job_id and l.lane = 2 and l.replay_of is null
      and l.fire_time >= :range_from and l.fire_time < :range_to and l.state in ('INIT', 'FAIL')
      and split_part(l.idem_key, ':', 3) = :key_suffix
      and {fence}
    returning l.*)
insert into instance_history (ended_at, state, error_msg, {history_columns})
select :now, 'CANCELLED', error_msg, {history_columns}
from ended
returning id
