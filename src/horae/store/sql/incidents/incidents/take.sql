-- :id :coordinator :now :ttl
-- Zero rows: another coordinator works on the incident, or it has ended.
update incident i
set coordinator = :coordinator, lease_until = :now::timestamptz + :ttl::interval
where i.id = :id and i.ended_at is null
  and (i.coordinator = :coordinator or i.lease_until <= :now or i.coordinator is null)
returning {incident_columns}
