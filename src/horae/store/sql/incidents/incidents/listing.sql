-- :limit
-- The incidents of this cell, the newest first.
select {incident_columns} from incident i order by i.started_at desc, i.id limit :limit
