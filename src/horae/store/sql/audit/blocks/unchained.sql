-- :from_xid :limit
-- How many rows wait for their block, and since when. Counted up to a bound.
select count(*) as entries, min(at) as since from (select at from audit_log where xid >= :from_xid limit :limit) a
