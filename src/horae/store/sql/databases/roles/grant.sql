-- The names are ours, never a caller's.
grant "{granted}" to "{role}"
