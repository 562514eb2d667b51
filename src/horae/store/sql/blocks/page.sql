-- Blocks in their order, after the last one seen.
select number, sealed_at, from_xid, until_xid, entries, digest, previous, hash from audit_block
where number > $1 and number <= $2
order by number limit $3
