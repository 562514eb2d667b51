-- What may be replayed, oldest first; a page begins behind the last letter of the one before.
select d.* from dead_letter d
where d.tenant_id = $1 and (d.created_at, d.instance_id) > ($2, $3)
  and d.replay_status in ('NEW', 'DEAD_AGAIN')
  and ($4::text is null or d.tag = $4)
  and ($5::text is null or d.error_code = $5)
  and ($6::uuid is null or d.job_id = $6)
order by d.created_at, d.instance_id
limit $7
