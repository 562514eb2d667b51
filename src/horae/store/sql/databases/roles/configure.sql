-- The names are ours, never a caller's.
alter role "{role}" set "{setting}" = '{value}'
