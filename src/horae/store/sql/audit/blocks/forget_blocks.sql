-- :last_number
-- Zero rows: no block is left behind the checkpoint.
delete from audit_block b where b.number <= :last_number
returning b.number
