-- :shard :id
-- Zero rows: there is no such incident, it has ended, or the shard is moving.
update incident i set stop_requested = true where i.id = :id and i.ended_at is null and {fence}
returning {incident_columns}
