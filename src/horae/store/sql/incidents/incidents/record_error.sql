-- :id :coordinator :error
-- Zero rows: another coordinator has the incident, or it has ended.
update incident i set error = :error where i.id = :id and i.coordinator = :coordinator and i.ended_at is null
returning i.id
