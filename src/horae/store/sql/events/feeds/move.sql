-- :channel_id :blocks :revisions :xids :skip_starts :skip_ends :at :now :sent_counts
-- No row for a block: another was there, or someone asked for a replay. Read again where it stands.
update feed_position p
set xid = g.xid, skip_from = g.skip_from, skip_to = g.skip_to, at = greatest(p.at, :at::timestamptz), moved_at = :now,
    sent = p.sent + g.sent, revision = p.revision + 1, error = null
from unnest(:blocks::smallint[], :revisions::bigint[], :xids::bigint[], :skip_starts::bigint[], :skip_ends::bigint[],
            :sent_counts::bigint[])
     as g(block, revision, xid, skip_from, skip_to, sent)
where p.channel_id = :channel_id and p.block = g.block and p.revision = g.revision
returning p.block
