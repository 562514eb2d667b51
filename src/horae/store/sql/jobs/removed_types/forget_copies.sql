-- :ids
-- Fewer rows than asked: the others are gone already, or were made anew.
delete from reference r
where r.kind = 'job' and r.id = any(:ids::uuid[]) and r.body ->> 'status' = 'REMOVED'
returning r.id
