-- :doubt_ms
-- Always one row: the migration wrote it.
update clock_offset set doubt_ms = :doubt_ms where only_row
