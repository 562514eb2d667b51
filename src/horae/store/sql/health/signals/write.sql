-- :minute :writer :tenant_ids :priorities :lanes :success_counts :failed_counts :dead_counts :skipped_counts :delay_counts :gate_shifts
-- Always as many rows as given: a second writing in the same minute is added to the first.
insert into signal as s (minute, writer, tenant_id, priority, lane, success, failed, dead, skipped, delays, gate_shifts)
select :minute, :writer, g.tenant_id, g.priority, g.lane, g.success, g.failed, g.dead, g.skipped,
       string_to_array(g.delays, ',')::int[], string_to_array(g.gate_shifts, ',')::int[]
from unnest(:tenant_ids::uuid[], :priorities::smallint[], :lanes::smallint[], :success_counts::int[],
            :failed_counts::int[], :dead_counts::int[], :skipped_counts::int[], :delay_counts::text[], :gate_shifts::text[])
     as g(tenant_id, priority, lane, success, failed, dead, skipped, delays, gate_shifts)
on conflict (minute, tenant_id, priority, lane, writer) do update
set success = s.success + excluded.success, failed = s.failed + excluded.failed, dead = s.dead + excluded.dead,
    skipped = s.skipped + excluded.skipped,
    delays = case when s.delays = '{}' then excluded.delays
                  else (select array_agg(a + b order by n)
                        from unnest(s.delays, excluded.delays) with ordinality as both_of(a, b, n)) end,
    gate_shifts = case when s.gate_shifts = '{}' then excluded.gate_shifts
                       when excluded.gate_shifts = '{}' then s.gate_shifts
                       else (select array_agg(c + d order by k)
                             from unnest(s.gate_shifts, excluded.gate_shifts) with ordinality as shifts(c, d, k)) end
