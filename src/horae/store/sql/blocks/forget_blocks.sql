-- Zero rows: no block is left behind the checkpoint.
delete from audit_block b where b.number <= $1
returning b.number
