-- No row for a block: another was there, or someone asked for a replay. Read again where it stands.
update feed_position p
set xid = g.xid, skip_from = g.skip_from, skip_to = g.skip_to, at = greatest(p.at, $7::timestamptz), moved_at = $8,
    sent = p.sent + g.sent, revision = p.revision + 1, error = null
from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $9::bigint[])
     as g(block, revision, xid, skip_from, skip_to, sent)
where p.channel_id = $1 and p.block = g.block and p.revision = g.revision
returning p.block
