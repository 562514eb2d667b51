select state, count(*) from instance_live group by state
