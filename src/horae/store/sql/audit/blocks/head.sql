-- The last block and what it was counted from. No number: nothing was chained yet, or all of it was dropped.
select (select name from cell) as cell, c.number as dropped, c.until_xid as dropped_until, c.hash as dropped_hash,
       b.number, b.sealed_at, b.from_xid, b.until_xid, b.entries, b.digest, b.previous, b.hash
from audit_checkpoint c
left join lateral (select * from audit_block order by number desc limit 1) b on true
