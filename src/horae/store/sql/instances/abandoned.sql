-- By deadline, page after page: a page of rows that cannot be rescued never hides the next one. $5: how far to look;
-- at a takeover to the end, because what a vanished owner ran is due before its deadline.
select l.* from instance_live l
where l.state = 'RUNNING' and (l.deadline, l.id) > ($6::timestamptz, $7::uuid) and l.deadline <= $5
  and l.shard_id between $1 and $2
  and (l.deadline < $3
       or (l.owner is not null
           and not exists (select from node n where n.incarnation = l.owner and n.expires_at > $3
                             and n.seen_at < $3 + interval '5 seconds')))
order by l.deadline, l.id
limit $4
