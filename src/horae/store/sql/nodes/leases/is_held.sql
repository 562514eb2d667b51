-- :shard :now
-- Zero rows: nobody alive owns it.
select true from shard s join node n on n.incarnation = s.owner
where s.shard_id = :shard and n.expires_at > :now and n.seen_at < :now + interval '5 seconds'
