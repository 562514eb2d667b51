-- Zero rows: no tenant has lines of its own.
select r.id, r.body -> 'allowance' -> 'measures' as lines
from reference r
where r.kind = 'tenant' and r.body -> 'allowance' ? 'measures'
