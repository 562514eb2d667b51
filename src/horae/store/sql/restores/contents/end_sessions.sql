-- :now
-- Zero rows: nobody was logged in.
update session s set ended_at = :now where s.ended_at is null
returning s.id
