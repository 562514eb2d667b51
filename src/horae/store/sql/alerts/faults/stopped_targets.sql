-- :now :tenant_id :before
-- The targets that take no calls since before :before, because their circuit breaker is open or because they answer
-- nothing, and how many calls wait for them.
select h.name as target, bool_or(h.reason = 'BREAKER') as is_open, sum(h.waiting)::int as waiting
from hold h
join node n on n.incarnation = h.incarnation
where h.tenant_id = :tenant_id and h.reason in ('BREAKER', 'NO_ANSWER') and h.since <= :before and n.expires_at > :now
group by h.name
order by h.name
limit 100
