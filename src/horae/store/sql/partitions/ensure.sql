select ensure_partitions($1, $2)
