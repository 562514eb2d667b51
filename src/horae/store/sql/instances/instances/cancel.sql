-- :shard :id :tenant_id :state :attempt :now
-- Zero rows: it changed since it was read, or the shard is closed. A call in flight is not aborted: its answer finds no
-- row.
with ended as (
    delete from instance_live l
    where l.shard_id = :shard and l.id = :id and l.tenant_id = :tenant_id
      and (l.business_key is null or l.generation = 0)  -- 0: of a subject, which has no ledger
      and l.state = :state::text and l.attempt = :attempt
      and {fence}
    returning l.*),
reopened as (                                    -- a replay that was cancelled: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from ended e
    where {replayed_dead_letter})
insert into instance_history (ended_at, state, error_msg, generation, business_key, worker_id, {history_columns})
select :now, 'CANCELLED', error_msg, generation, business_key, worker_id, {history_columns}
from ended
returning id
