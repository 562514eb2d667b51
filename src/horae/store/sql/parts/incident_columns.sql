-- The columns of an incident `i`, in the order of `Incident`.
i.id, i.grade, i.step, i.reason, i.started_by, i.fault_at, i.started_at, i.changed_at, i.ended_at, i.result,
i.coordinator, i.stop_requested, i.error
