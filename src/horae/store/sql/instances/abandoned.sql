-- Keyset pages by id: a page of rows that cannot be rescued never hides the next one.
select l.* from instance_live l
where l.state = 'RUNNING' and l.shard_id = any($1::smallint[]) and l.id > $3
  and (l.deadline < $2
       or (l.owner is not null
           and not exists (select from node n where n.incarnation = l.owner and n.expires_at > $2)))
order by l.id
limit $4
