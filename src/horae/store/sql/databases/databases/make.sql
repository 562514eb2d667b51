-- The names are ours, never a caller's: a statement of this kind takes no parameters.
create database "{name}" template "{template}" strategy file_copy
