-- The status of the subject `u`, as the index `subject_status` has it: 0 never run, 1 running, 2 succeeded, 3 failed.
case when u.instance_id is not null then 1 when u.finished_at is null then 0
     when u.last_success_at = u.finished_at then 2 else 3 end
