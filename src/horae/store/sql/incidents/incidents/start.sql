-- :shard :id :grade :reason :actor :fault_at :now
-- Zero rows: an incident is open in this cell, or the shard is moving.
insert into incident as i (id, grade, reason, started_by, fault_at, started_at, changed_at, lease_until)
select :id, :grade, :reason, :actor, :fault_at, :now, :now, :now
where {fence}
on conflict do nothing
returning {incident_columns}
