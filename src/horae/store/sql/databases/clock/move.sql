-- :shift_ms
-- Zero rows: this is a production cell, where time is not ours to move.
update clock_offset
set offset_ms = offset_ms + :shift_ms
from cell
where cell.environment in ('dev', 'test')
returning offset_ms
