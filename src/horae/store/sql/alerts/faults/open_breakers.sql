-- :now :tenant_id :before
-- The targets whose circuit breaker has been open since before :before, and how many calls wait for them.
select h.name as target, sum(h.waiting)::int as waiting, min(h.since) as since
from hold h
join node n on n.incarnation = h.incarnation
where h.tenant_id = :tenant_id and h.reason = 'BREAKER' and h.since <= :before and n.expires_at > :now
group by h.name
order by h.name
limit 100
