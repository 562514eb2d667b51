-- :now :limit
-- The targets that take no calls, because their circuit breaker is open or because they answer nothing, with how many
-- calls wait for them and since when. One statement for all tenants.
select h.tenant_id, h.name as target, bool_or(h.reason = 'BREAKER') as is_open, sum(h.waiting)::int as waiting,
       min(h.since) as since
from hold h
join node n on n.incarnation = h.incarnation
where h.reason in ('BREAKER', 'NO_ANSWER') and n.expires_at > :now
group by h.tenant_id, h.name
order by h.tenant_id, h.name
limit :limit
