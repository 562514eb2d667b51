-- The days of this cell whose rows are in the archive only, the oldest first.
select day, archive_id, generation
from archived_day
where state = 'ARCHIVED' and dropped_at is not null
order by day
