-- What an audit of fires reads of a job `j`, its cursor `c` and the measures that may withhold it.
j.shard_id, j.id, j.tenant_id, j.name, j.status, c.next_fire_at, c.version,
       c.priority > 0 and exists (
           select from measure m
           where (m.level > 0 or (m.override ->> 'in_force')::boolean)
             and m.tenant_id in (j.tenant_id, '00000000-0000-0000-0000-000000000000')) as may_be_withheld
