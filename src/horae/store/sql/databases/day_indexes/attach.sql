alter index instance_history_tenant attach partition "{partition}_tenant"
