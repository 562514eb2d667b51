-- Always one row: by how many milliseconds the clock jumped ahead; null: it is trusted.
select c.doubt_ms from clock_offset c
