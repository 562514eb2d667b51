-- Always one row: the migration wrote it.
select clock_timestamp() as reading, offset_ms from clock_offset
