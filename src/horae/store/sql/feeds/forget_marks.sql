-- Zero rows: none is so old.
delete from feed_mark m where m.at < $1
returning m.at
