-- :channel_id :blocks
-- No row for a block: nobody has begun there.
select block, xid, at, skip_from, skip_to, revision, sent, moved_at, error from feed_position
where channel_id = :channel_id and block = any(:blocks::smallint[])
order by block
