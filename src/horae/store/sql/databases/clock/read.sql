-- Always one row: the migration wrote it. A column that a cell has not been given yet is read as null.
select clock_timestamp() as reading, offset_ms, vouches, (to_jsonb(c) ->> 'doubt_ms')::bigint as doubt_ms
from clock_offset c
