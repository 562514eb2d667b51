-- :after_id :from_xid :at :limit
-- One row; a null `last` in it: there are no more subscriptions. A position before :from_xid stays. A range that an
-- earlier replay skips is sent, too.
with page as materialized (
    select c.id from channel c
    where c.kind = 'subscription' and c.body is not null and c.paused_at is null and c.id > :after_id
    order by c.id limit :limit),
moved as (
    update feed_position p
    set xid = :from_xid, at = least(p.at, :at::timestamptz), revision = p.revision + 1, skip_from = null, skip_to = null
    from page g
    where p.channel_id = g.id and p.xid > :from_xid
    returning p.channel_id)
select (select g.id from page g order by g.id desc limit 1) as last, (select count(*)::int from page) as found,
       (select count(distinct m.channel_id)::int from moved m) as rewound
