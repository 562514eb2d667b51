-- Always as many rows as given: a second writing in the same minute is added to the first.
insert into signal as s (minute, writer, tenant_id, priority, lane, success, failed, dead, skipped, delays)
select $1, $2, g.tenant_id, g.priority, g.lane, g.success, g.failed, g.dead, g.skipped,
       string_to_array(g.delays, ',')::int[]
from unnest($3::uuid[], $4::smallint[], $5::smallint[], $6::int[], $7::int[], $8::int[], $9::int[], $10::text[])
     as g(tenant_id, priority, lane, success, failed, dead, skipped, delays)
on conflict (minute, tenant_id, priority, lane, writer) do update
set success = s.success + excluded.success, failed = s.failed + excluded.failed, dead = s.dead + excluded.dead,
    skipped = s.skipped + excluded.skipped,
    delays = case when s.delays = '{}' then excluded.delays
                  else (select array_agg(a + b order by n)
                        from unnest(s.delays, excluded.delays) with ordinality as both_of(a, b, n)) end
