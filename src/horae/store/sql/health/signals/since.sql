-- :since :tenant_id
-- Zero rows: nothing was counted since then, for anyone (:tenant_id null) or for that tenant.
select minute, success, failed, dead, skipped, delays
from signal
where minute >= :since and (:tenant_id::uuid is null or tenant_id = :tenant_id)
