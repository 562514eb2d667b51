-- Zero rows: there are not more events between the two.
select o.xid + 1 from outbox o
where o.event = 'COMPENSATION_ASKED' and o.xid >= $1 and o.xid < $2
order by o.xid
offset $3 limit 1
