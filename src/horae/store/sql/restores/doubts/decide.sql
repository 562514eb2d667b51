-- :generation :number :decision :actor :now
-- Zero rows: there is no such doubt, or somebody has decided.
update restore_doubt d set decision = :decision, decided_by = :actor, decided_at = :now
where d.generation = :generation and d.number = :number and d.decision is null
returning d.number
