-- :now :next_at :limit
-- Zero rows: none is due, other nodes have them, or their shards are closed. Who moves `next_at` does the next step.
with due as materialized (
    select w.shard_id, w.id from paced_replay w
    where w.ended_at is null and w.next_at <= :now
      and not exists (select from shard s where s.shard_id = w.shard_id and s.state <> 'ACTIVE')
    order by w.next_at
    limit :limit
    for update skip locked)
update paced_replay p
set next_at = :next_at
from due
where p.shard_id = due.shard_id and p.id = due.id and p.ended_at is null
returning p.*
