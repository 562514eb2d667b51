-- How many rows wait for their block, and since when. Counted up to a bound.
select count(*) as entries, min(at) as since from (select at from audit_log where xid >= $1 limit $2) a
