-- Zero rows: nobody is alive here. A node last seen in the future is not: the database's clock was ahead then, and
-- its term would last for as long as that was.
select incarnation, draining, expires_at - $1 as remaining from node
where expires_at > $1 and seen_at < $1 + interval '5 seconds'
