-- :incident_id :step :part :now :facts
-- Zero rows: this part was done before.
insert into incident_entry (incident_id, step, part, at, facts)
values (:incident_id, :step, :part, :now, :facts)
on conflict do nothing
returning incident_id
