-- :measured_at :facts
-- Never zero rows: there is one row, and the newest measurement is in it.
insert into growth (measured_at, facts) values (:measured_at, :facts)
on conflict (only_row) do update
set measured_at = excluded.measured_at, facts = excluded.facts
