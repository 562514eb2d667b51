-- :shard :id :coordinator :rows :error :now :ttl
-- Zero rows: another coordinator has the move.
update shard_move m
set rows_copied = m.rows_copied + :rows, error = :error, lease_until = :now::timestamptz + :ttl::interval
where m.shard_id = :shard and m.id = :id and m.coordinator = :coordinator
returning {move_columns}
