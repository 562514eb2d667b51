-- :job_ids :since :until
-- Newest first: what it has decided begins where its undecided fires end.
select job_id, id, created_at, coalesce(decided_from, range_from) as range_from, range_to,
       case when decided_from is null then cursor else range_to end as cursor, rerun, mode
from backfill
where job_id = any(:job_ids::uuid[]) and range_from < :until and range_to > :since
