-- Zero rows: no living node holds anything of this tenant back here.
select h.tenant_id, h.kind, h.name, h.lane, h.reason, h.since, h.waiting, h.next_try_at
from hold h
join node n on n.incarnation = h.incarnation
where h.tenant_id = $1 and n.expires_at > $2
limit $3
