-- :before
-- Zero rows: none is so old.
delete from feed_mark m where m.at < :before
returning m.at
