-- Keyset pages by id: a page of rows that cannot be rescued never hides the next one.
select l.* from instance_live l
where l.state = 'RUNNING' and l.shard_id between $1 and $2 and l.id > $4
  and (l.deadline < $3
       or (l.owner is not null
           and not exists (select from node n where n.incarnation = l.owner and n.expires_at > $3)))
order by l.id
limit $5
