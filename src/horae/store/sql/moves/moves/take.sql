-- :shard :id :coordinator :now :ttl
-- Zero rows: another coordinator works on the move, or it has ended.
update shard_move m
set coordinator = :coordinator, lease_until = :now::timestamptz + :ttl::interval
where m.shard_id = :shard and m.id = :id and m.ended_at is null
  and (m.coordinator = :coordinator or m.lease_until <= :now or m.coordinator is null)
returning {move_columns}
