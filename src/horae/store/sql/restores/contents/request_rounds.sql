-- :now
-- Zero rows: there is no source that is not paused. A running round begins anew with the next one.
update source s set next_at = :now, step = s.step + 1, asked = coalesce(s.asked, 'run')
where s.paused_at is null
returning s.job_id
