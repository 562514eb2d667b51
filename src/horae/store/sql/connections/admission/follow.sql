-- :cluster_id :from_timeline :timeline :incarnation :seen_at
-- Zero rows: the last acknowledged heartbeat of this process is not here, a node was seen more than a lease after it, or
-- another process has recorded the timeline. A process that had lost the cell before others did cannot tell whether the
-- end of their history is here.
update cell_generation g set timeline = :timeline
where g.cluster_id = :cluster_id and g.timeline = :from_timeline
  and exists (
    select from node n
    where n.incarnation = :incarnation and n.seen_at >= :seen_at
      and not exists (
        select from node later where later.seen_at > :seen_at::timestamptz + (n.expires_at - n.seen_at)))
returning g.timeline
