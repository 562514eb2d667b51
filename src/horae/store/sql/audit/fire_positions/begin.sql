-- :judged_until :now
-- Zero rows: another node has begun.
insert into fire_audit_position (judged_until, moved_at) values (:judged_until, :now)
on conflict (only_row) do nothing
returning judged_until
