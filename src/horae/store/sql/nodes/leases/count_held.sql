-- :incarnation
-- Always one row.
select count(*) from shard where owner = :incarnation and state = 'ACTIVE'
