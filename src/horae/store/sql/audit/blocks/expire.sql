-- :before :max_blocks :max_entries
-- Zero rows: none of the oldest blocks is old enough, or the next block is the last one there is.
update audit_checkpoint c
set number = gone.number, until_xid = gone.until_xid, hash = gone.hash, sealed_at = gone.sealed_at
from (
    select b.number, b.until_xid, b.hash, b.sealed_at
    from (
        select o.number, o.until_xid, o.hash, o.sealed_at, sum(o.entries) over (order by o.number) - o.entries as before
        from (select * from audit_block order by number limit :max_blocks) o) b
    where b.sealed_at < :before and b.before < :max_entries
      and b.number < (select number from audit_block order by number desc limit 1)
    order by b.number desc limit 1) gone
where gone.number > c.number
returning c.number, c.until_xid
