-- Zero rows: nobody alive owns it.
select true from shard s join node n on n.incarnation = s.owner
where s.shard_id = $1 and n.expires_at > $2 and n.seen_at < $2 + interval '5 seconds'
