-- :incident_id
-- What was done in this cell for an incident, in the order of time.
select e.at, e.step, e.part, e.facts from incident_entry e
where e.incident_id = :incident_id
order by e.at, e.step, e.part
