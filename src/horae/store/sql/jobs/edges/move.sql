-- :edge_id :blocks :revisions :xids :at :now :sent_counts :refusal :has_started
-- No row for a block: another node was there. Read again where it stands.
-- A refusal stays to be seen until the edge has started something.
update feed_position p
set xid = g.xid, at = greatest(p.at, :at::timestamptz), moved_at = :now, sent = p.sent + g.sent,
    revision = p.revision + 1,
    error = case when :refusal::text is not null then :refusal::text
                 when :has_started or not starts_with(p.error, 'refused') then null
                 else p.error end
from unnest(:blocks::smallint[], :revisions::bigint[], :xids::bigint[], :sent_counts::bigint[])
     as g(block, revision, xid, sent)
where p.channel_id = :edge_id and p.block = g.block and p.revision = g.revision
returning p.block
