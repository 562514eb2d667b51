-- :jump :now
-- Zero rows: nothing is at home here. The rows of the backup replace the newer copies in other cells.
update reference r set version = r.version + :jump, changed_at = :now
where not exists (select from shard s where s.shard_id = r.home_shard and s.state = 'ELSEWHERE')
returning r.id
