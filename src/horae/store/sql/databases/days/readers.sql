-- All subscriptions, each with the time before which it has been sent everything.
select c.tenant_id, c.name, min(p.at) as sent_until
from channel c
join feed_position p on p.channel_id = c.id
where c.kind = 'subscription' and c.body is not null
group by c.tenant_id, c.name
order by c.tenant_id, c.name
