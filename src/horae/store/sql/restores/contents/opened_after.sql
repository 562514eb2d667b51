-- :shards :epochs
-- Zero rows: none of these shards was opened in this cell after it had given that epoch to a move.
select s.shard_id from shard s
join unnest(:shards::smallint[], :epochs::bigint[]) g(shard_id, epoch) on g.shard_id = s.shard_id
where s.state <> 'ELSEWHERE' and s.epoch > g.epoch
