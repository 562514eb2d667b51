select state, count(*) from instance_history group by state
