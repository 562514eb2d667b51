-- :now :since :per_channel
-- For each channel with messages that wait, the first due ones, and how many it was sent since :since. A message waits
-- for the earlier ones of its alert. Channel by channel: a long queue of one hides no other.
with recursive waiting as (
    (select m.tenant_id, m.channel from alert_message m
     where m.state = 'PENDING' order by m.tenant_id, m.channel limit 1)
    union all
    select n.tenant_id, n.channel
    from waiting before
    cross join lateral (
        select m.tenant_id, m.channel from alert_message m
        where m.state = 'PENDING' and (m.tenant_id, m.channel) > (before.tenant_id, before.channel)
        order by m.tenant_id, m.channel limit 1) n)
select d.alert_id, d.sequence, d.tenant_id, d.channel, d.attempts, d.created_at, d.body,
       (select count(*) from alert_message s
        where s.tenant_id = w.tenant_id and s.channel = w.channel and s.sent_at > :since)::int as sent_lately
from waiting w
cross join lateral (
    select m.* from alert_message m
    where m.state = 'PENDING' and m.tenant_id = w.tenant_id and m.channel = w.channel and m.next_try_at <= :now
      and not exists (select from alert_message e
                      where e.alert_id = m.alert_id and e.channel = m.channel and e.sequence < m.sequence
                        and e.state = 'PENDING')
    order by m.created_at, m.alert_id
    limit :per_channel) d
