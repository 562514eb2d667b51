-- :audit_id
-- Zero rows: the audit row is in no block yet, or was dropped with its block.
select b.number, b.sealed_at, b.from_xid, b.until_xid, b.entries, b.digest, b.previous, b.hash
from audit_log a
join audit_block b on b.from_xid <= a.xid and b.until_xid > a.xid
where a.id = :audit_id
limit 1
