-- :cluster_id :from_timeline :timeline :incarnation :seen_at
-- Zero rows: the last acknowledged heartbeat of this process is not here, or another process has recorded the timeline.
update cell_generation g set timeline = :timeline
where g.cluster_id = :cluster_id and g.timeline = :from_timeline
  and exists (select from node n where n.incarnation = :incarnation and n.seen_at >= :seen_at)
returning g.timeline
