-- :minute :writer :load :strain
-- Always one row: a second writing in the same minute replaces the first.
insert into signal as s (minute, writer, tenant_id, priority, lane, load, strain)
values (:minute, :writer, '00000000-0000-0000-0000-000000000000', 0, 0, :load, :strain)
on conflict (minute, tenant_id, priority, lane, writer) do update set load = excluded.load, strain = excluded.strain
