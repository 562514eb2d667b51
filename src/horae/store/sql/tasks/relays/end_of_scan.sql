-- :from_xid :until_xid :offset
-- Zero rows: there are not more events between the two.
select o.xid + 1 from outbox o
where o.event = 'COMPENSATION_ASKED' and o.xid >= :from_xid and o.xid < :until_xid
order by o.xid
offset :offset limit 1
