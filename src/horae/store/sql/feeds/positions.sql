-- No row for a block: nobody has begun there.
select block, xid, at, skip_from, skip_to, revision, sent, moved_at, error from feed_position
where channel_id = $1 and block = any($2::smallint[])
order by block
