-- :channel_id :blocks :error
-- Zero rows: nobody has begun there.
update feed_position p set error = :error
where p.channel_id = :channel_id and p.block = any(:blocks::smallint[]) and p.error is distinct from :error
returning p.block
