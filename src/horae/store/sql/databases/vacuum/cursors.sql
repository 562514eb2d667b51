vacuum (skip_locked, truncate off) job_cursor
