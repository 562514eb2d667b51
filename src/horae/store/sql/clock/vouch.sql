-- Always one row: the migration wrote it.
update clock_offset set vouches = vouches + 1 where only_row
