-- :now :until_day :parent
-- Written before the day is detached: whoever misses a row meanwhile learns why.
insert into dropped_day (dropped_at, until_day, parent) values (:now, :until_day, :parent)
on conflict (parent) do update
set dropped_at = excluded.dropped_at, until_day = greatest(dropped_day.until_day, excluded.until_day)
