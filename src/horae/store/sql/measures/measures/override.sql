-- :tenant_id :name :override :now
-- Never zero rows: a measure that is not in force gets a row. Null: the decision of a person ends.
insert into measure as m (tenant_id, name, judged_until, changed_at, override)
values (:tenant_id, :name, :now, :now, :override)
on conflict (tenant_id, name) do update set override = excluded.override, changed_at = excluded.changed_at
