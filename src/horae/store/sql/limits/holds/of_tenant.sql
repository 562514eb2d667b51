-- :tenant_id :now :gates :limit
-- Zero rows: no living node holds anything of this tenant back here, or at the gates :gates if they are given.
select h.tenant_id, h.kind, h.name, h.lane, h.reason, h.since, h.waiting, h.next_try_at
from hold h
join node n on n.incarnation = h.incarnation
where h.tenant_id = :tenant_id and n.expires_at > :now and (:gates::bytea[] is null or h.gate = any(:gates))
limit :limit
