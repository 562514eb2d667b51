-- :shard :id :coordinator
-- Zero rows: another coordinator has the move, or the shard is not gone. Both rows stay locked until the end of the
-- transaction.
select s.epoch from shard s
join shard_move m on m.shard_id = s.shard_id
where s.shard_id = :shard and s.state = 'ELSEWHERE'
  and m.id = :id and m.coordinator = :coordinator and m.step = 'DELETE'
for update of s, m
