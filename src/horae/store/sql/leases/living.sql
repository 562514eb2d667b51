-- Zero rows: nobody is alive here.
select incarnation, draining, expires_at - $1 as remaining from node where expires_at > $1
