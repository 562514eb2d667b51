-- One row, which no other node may lock until the transaction ends. No row: nothing was audited in this cell yet.
select p.judged_until from fire_audit_position p for update
