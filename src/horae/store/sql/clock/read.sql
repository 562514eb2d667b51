-- Always one row: the migration wrote it.
select clock_timestamp() as reading, offset_ms, vouches, doubt_ms from clock_offset
