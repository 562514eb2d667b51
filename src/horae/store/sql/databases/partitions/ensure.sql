-- :first_day :days
select ensure_partitions(:first_day, :days)
