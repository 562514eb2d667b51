-- :id :coordinator :from_step :to_step :result :now
-- Zero rows: another coordinator has the incident, or it is at another step.
update incident i
set step = :to_step, changed_at = :now, error = null, result = :result,
    ended_at = case when :to_step = 'ENDED' then :now::timestamptz end
where i.id = :id and i.coordinator = :coordinator and i.step = :from_step
returning {incident_columns}
