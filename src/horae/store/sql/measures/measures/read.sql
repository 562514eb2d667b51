-- Zero rows: no measure is in force, none may come into force soon, and no person has decided.
select m.name, m.tenant_id, m.level, m.since, m.level_since, m.over_minutes, m.clear_minutes, m.judged_until, m.value,
       m.override
from measure m
order by m.tenant_id, m.name
