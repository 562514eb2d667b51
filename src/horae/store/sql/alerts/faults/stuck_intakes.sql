-- :tenant_id :before
-- The intakes of a tenant that wait with an error, or took nothing since :before although something waits.
select c.name as intake, coalesce(p.waiting, 0) as waiting
from channel c
join intake_position p on p.channel_id = c.id
where c.tenant_id = :tenant_id and c.kind = 'intake' and c.body is not null and c.paused_at is null
  and (p.taken_at is null or p.taken_at < :before) and c.created_at < :before
  and (p.error is not null or p.waiting > 0)
order by c.name
limit 100
