-- :job_id
-- A shard that moves counts as used: its rows may be on their way.
select exists (select from dead_letter d where d.job_id = :job_id)
    or exists (select from source o where o.job_id = :job_id)
    or exists (select from shard s
               where s.state = 'FROZEN'
                  or exists (select from instance_live l
                             where l.shard_id = s.shard_id and l.job_id = :job_id and l.business_key is not null))
