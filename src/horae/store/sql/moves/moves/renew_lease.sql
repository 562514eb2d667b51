-- :shard :id :coordinator :step :now :ttl
-- Zero rows: another coordinator has the move. Where it is at another step by now, its lease stays as that step has it.
update shard_move m
set lease_until = case when m.step = :step then :now::timestamptz + :ttl::interval else m.lease_until end
where m.shard_id = :shard and m.id = :id and m.coordinator = :coordinator
returning m.id
