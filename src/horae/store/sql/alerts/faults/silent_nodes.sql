-- :now :since
-- The nodes whose lease ran out after :since and that did not say that they end.
select n.name, n.seen_at from node n
where n.expires_at <= :now and n.expires_at > :since and not n.draining
order by n.seen_at
limit 100
