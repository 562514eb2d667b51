-- :incarnation :ended_tenant_ids :ended_gates :ended_lanes :tenant_ids :gates :lanes :kinds :names :reasons :since_times :waiting_counts :next_try_times :now
-- Zero rows: nothing was new. What has ended may have been taken away before.
with ended as (
    delete from hold h
    using unnest(:ended_tenant_ids::uuid[], :ended_gates::bytea[], :ended_lanes::text[]) as e(tenant_id, gate, lane)
    where h.tenant_id = e.tenant_id and h.incarnation = :incarnation and h.gate = e.gate and h.lane = e.lane)
insert into hold (tenant_id, incarnation, gate, lane, kind, name, reason, since, waiting, next_try_at, written_at)
select n.tenant_id, :incarnation, n.gate, n.lane, n.kind, n.name, n.reason, n.since, n.waiting, n.next_try_at, :now
from unnest(:tenant_ids::uuid[], :gates::bytea[], :lanes::text[], :kinds::text[], :names::text[], :reasons::text[],
            :since_times::timestamptz[], :waiting_counts::int[], :next_try_times::timestamptz[])
     as n(tenant_id, gate, lane, kind, name, reason, since, waiting, next_try_at)
on conflict (tenant_id, incarnation, gate, lane) do update
set reason = excluded.reason, since = excluded.since, waiting = excluded.waiting, next_try_at = excluded.next_try_at,
    written_at = excluded.written_at
