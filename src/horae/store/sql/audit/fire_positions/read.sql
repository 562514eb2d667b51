-- No row: nothing was audited in this cell yet. `has_findings`: some are open.
select p.judged_until, p.walk_until, p.walked_shard, p.walked_job, p.has_doubt,
       exists (select from fire_finding f where f.ended_at is null) as has_findings
from fire_audit_position p
