-- :cell :generation :now
-- Zero rows: this cell has heard of that generation, or of a newer one.
insert into cell_witness as w (cell, generation, seen_at)
values (:cell, :generation, :now)
on conflict (cell) do update set generation = excluded.generation, seen_at = excluded.seen_at
where w.generation < excluded.generation
returning w.cell
