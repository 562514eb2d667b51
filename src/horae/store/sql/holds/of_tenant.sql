-- Zero rows: no living node holds anything of this tenant back here, or at the gates $3 if they are given.
select h.tenant_id, h.kind, h.name, h.lane, h.reason, h.since, h.waiting, h.next_try_at
from hold h
join node n on n.incarnation = h.incarnation
where h.tenant_id = $1 and n.expires_at > $2 and ($3::bytea[] is null or h.gate = any($3))
limit $4
