-- Zero rows: nobody has begun there.
update feed_position p set error = $3
where p.channel_id = $1 and p.block = any($2::smallint[]) and p.error is distinct from $3
returning p.block
