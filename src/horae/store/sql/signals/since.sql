-- Zero rows: nothing was counted since then, for anyone ($2 null) or for that tenant.
select minute, success, failed, dead, skipped, delays
from signal
where minute >= $1 and ($2::uuid is null or tenant_id = $2)
