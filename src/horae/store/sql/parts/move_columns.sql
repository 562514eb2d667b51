-- The columns of a move `m`, in the order of `Move`.
m.id, m.shard_id, m.target, m.step, m.requested_by, m.requested_at, m.changed_at, m.frozen_at, m.left_at, m.ended_at,
m.source_epoch, m.target_epoch, m.rows_copied, m.pause_ms, m.coordinator, m.abort_requested, m.error
