-- :id
-- Zero rows: no such incident was started in this cell.
select {incident_columns} from incident i where i.id = :id
