-- :minute
-- Zero rows: no node has written what it noticed in this minute.
select s.strain from signal s where s.minute = :minute and s.strain is not null
