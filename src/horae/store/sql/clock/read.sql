-- Always one row: the migration wrote it.
select clock_timestamp() as reading, offset_ms, vouches from clock_offset
