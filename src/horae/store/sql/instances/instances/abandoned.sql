-- :first_shard :last_shard :now :limit :until :after_deadline :after_id :long_ms
-- By deadline, page after page: a page of rows that cannot be rescued never hides the next one. :until: how far to
-- look; at a takeover to the end, because what a vanished owner ran is due before its deadline. A call that may take
-- longer than :long_ms is not: its target may still work on it, and nobody else would hear of its end.
select l.* from instance_live l
where l.state = 'RUNNING' and (l.deadline, l.id) > (:after_deadline::timestamptz, :after_id::uuid)
  and l.deadline <= :until
  and l.shard_id between :first_shard and :last_shard
  and (l.deadline < :now
       or (l.owner is not null and l.slot_ms <= :long_ms
           and not exists (select from node n where n.incarnation = l.owner and n.expires_at > :now
                             and n.seen_at < :now + interval '5 seconds')))
order by l.deadline, l.id
limit :limit
