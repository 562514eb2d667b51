-- :tenant_ids :names :levels :since :level_since :over_minutes :clear_minutes :judged_until :values :now
-- Zero rows: later judgements of these measures are there. What a person has decided stays.
insert into measure as m (tenant_id, name, level, since, level_since, over_minutes, clear_minutes, judged_until, value,
                          changed_at)
select g.tenant_id, g.name, g.level, g.since, g.level_since, g.over_minutes, g.clear_minutes, g.judged_until, g.value,
       :now
from unnest(:tenant_ids::uuid[], :names::text[], :levels::smallint[], :since::timestamptz[],
            :level_since::timestamptz[], :over_minutes::int[], :clear_minutes::int[], :judged_until::timestamptz[],
            :values::float8[])
     as g(tenant_id, name, level, since, level_since, over_minutes, clear_minutes, judged_until, value)
order by g.tenant_id, g.name
on conflict (tenant_id, name) do update
set level = excluded.level, since = excluded.since, level_since = excluded.level_since,
    over_minutes = excluded.over_minutes, clear_minutes = excluded.clear_minutes,
    judged_until = excluded.judged_until, value = excluded.value, changed_at = excluded.changed_at
where m.judged_until < excluded.judged_until
returning m.tenant_id
