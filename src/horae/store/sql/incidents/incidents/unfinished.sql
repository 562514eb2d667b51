-- Zero rows: no incident is open in this cell.
select {incident_columns} from incident i where i.ended_at is null order by i.started_at
