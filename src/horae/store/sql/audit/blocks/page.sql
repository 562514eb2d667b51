-- :after_number :last_number :limit
-- Blocks in their order, after the last one seen.
select number, sealed_at, from_xid, until_xid, entries, digest, previous, hash from audit_block
where number > :after_number and number <= :last_number
order by number limit :limit
