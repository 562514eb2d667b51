-- :since :until
-- The last mark at or before a time, else the first of all; and the first behind another, null where there is none.
select coalesce((select m.xid from feed_mark m where m.at <= :since order by m.at desc limit 1),
                (select m.xid from feed_mark m order by m.at limit 1), 0) as since,
       (select m.xid from feed_mark m where m.at >= :until order by m.at limit 1) as until
