-- Zero rows: nothing was dropped yet. The last day of each kind that was dropped, and when.
select parent, until_day, dropped_at from dropped_day order by parent
