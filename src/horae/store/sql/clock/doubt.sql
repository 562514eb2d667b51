-- Always one row: the migration wrote it.
update clock_offset set doubt_ms = $1 where only_row
