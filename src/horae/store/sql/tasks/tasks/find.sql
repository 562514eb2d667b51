-- :shard :job_id :business_key
-- One statement, one snapshot: live row and ledger always agree. Zero rows: the key has never been used.
select l.*, k.generation as ledger_generation, k.outcome, k.intent_version as ledger_intent_version, k.revision,
       k.instance_id
from task_key k
left join instance_live l
    on (l.shard_id, l.job_id, l.business_key) = (k.shard_id, k.job_id, k.business_key)
where k.shard_id = :shard and k.job_id = :job_id and k.business_key = :business_key
