-- Zero rows: nothing was new. What has ended may have been taken away before.
with ended as (
    delete from hold h
    using unnest($2::uuid[], $3::bytea[], $4::text[]) as e(tenant_id, gate, lane)
    where h.tenant_id = e.tenant_id and h.incarnation = $1 and h.gate = e.gate and h.lane = e.lane)
insert into hold (tenant_id, incarnation, gate, lane, kind, name, reason, since, waiting, next_try_at, written_at)
select n.tenant_id, $1, n.gate, n.lane, n.kind, n.name, n.reason, n.since, n.waiting, n.next_try_at, $14
from unnest($5::uuid[], $6::bytea[], $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[], $12::int[],
            $13::timestamptz[])
     as n(tenant_id, gate, lane, kind, name, reason, since, waiting, next_try_at)
on conflict (tenant_id, incarnation, gate, lane) do update
set reason = excluded.reason, since = excluded.since, waiting = excluded.waiting, next_try_at = excluded.next_try_at,
    written_at = excluded.written_at
