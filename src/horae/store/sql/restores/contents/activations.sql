-- :cell
-- Zero rows: no move into that cell is about to open its shard there. Otherwise the epochs under which it may.
select m.shard_id, m.target_epoch from shard_move m
where m.target = :cell and m.step = 'ACTIVATE' and m.target_epoch is not null
