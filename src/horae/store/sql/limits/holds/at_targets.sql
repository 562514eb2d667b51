-- :tenant_id :now :limit
-- Zero rows: no living node holds calls back at a target, of this tenant or of anyone (:tenant_id null).
select h.tenant_id, h.kind, h.name, h.lane, h.reason, h.since, h.waiting, h.next_try_at
from hold h
join node n on n.incarnation = h.incarnation
where h.kind = 'TARGET' and n.expires_at > :now and (:tenant_id::uuid is null or h.tenant_id = :tenant_id)
order by h.waiting desc
limit :limit
