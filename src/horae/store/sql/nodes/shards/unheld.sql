-- :now
-- How many open shards of this cell no living node holds.
select count(*)::int from shard s
where s.state = 'ACTIVE'
  and not exists (select from node n where n.incarnation = s.owner and n.expires_at > :now)
