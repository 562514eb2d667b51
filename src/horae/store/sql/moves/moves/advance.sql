-- :shard :id :coordinator :from_step :to_step :now
-- Zero rows: another coordinator has the move, or it is at another step.
update shard_move m
set step = :to_step, changed_at = :now, error = null,
    ended_at = case when :to_step in ('DONE', 'ABORTED') then :now::timestamptz end
where m.shard_id = :shard and m.id = :id and m.coordinator = :coordinator and m.step = :from_step
returning {move_columns}
