-- :until
-- The subscriptions that have not been sent everything before a time.
select c.tenant_id, c.name
from channel c
where c.kind = 'subscription' and c.body is not null
  and exists (select from feed_position p where p.channel_id = c.id and p.at < :until)
order by c.tenant_id, c.name
