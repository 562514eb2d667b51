-- Zero rows: this cell's copy says that it goes on.
select body -> 'held' ->> 'status' from reference
where kind = 'tenant' and id = $1 and body -> 'held' ->> 'status' in ('PAUSED', 'REMOVED')
