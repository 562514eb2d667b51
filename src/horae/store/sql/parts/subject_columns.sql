-- The columns of the subject `u`. An older release leaves `updated_at` as it was: then another time is later.
u.key, u.added_at, u.started_at, u.finished_at, u.last_success_at, u.batch_no, u.remark, u.instance_id,
greatest(u.updated_at, u.finished_at, u.started_at, u.added_at) as updated_at
