-- :since :tenant_id
-- What waited when it was last counted, not longer ago than :since.
with latest as materialized (
    select max(minute) as minute from signal
    where minute >= :since and backlog is not null)
select coalesce(sum(s.retry_backlog), 0)::int as retry_backlog, coalesce(sum(s.backlog), 0)::int as backlog
from latest
join signal s on s.minute = latest.minute
where s.backlog is not null and (:tenant_id::uuid is null or s.tenant_id = :tenant_id)
