-- :now :idle_since :max_entries
-- Zero rows: nothing happened below the horizon since the last block, or someone else has just chained it.
with last as materialized (
    (select number, until_xid, hash, sealed_at from audit_block order by number desc limit 1)
    union all
    select number, until_xid, hash, sealed_at from audit_checkpoint
    order by number desc limit 1),
horizon as materialized (  -- every transaction below it has ended: what they wrote is here, and no more will come
    select txid_snapshot_xmin(txid_current_snapshot()) as xid),
ahead as materialized (  -- a block has at most :max_entries rows, unless one transaction alone wrote more
    select last.number + 1 as number, last.until_xid as from_xid, last.hash as previous,
           last.sealed_at as sealed_before,
           coalesce((
               select greatest(a.xid, 1 + (
                   select first.xid from audit_log first where first.xid >= last.until_xid order by first.xid limit 1))
               from audit_log a where a.xid >= last.until_xid and a.xid < horizon.xid
               order by a.xid offset :max_entries limit 1), horizon.xid) as until_xid
    from last, horizon),
chained_rows as materialized (  -- written as `horae.domain.audit.blocks.encode_row` writes it
    select ahead.number, ahead.from_xid, ahead.until_xid, ahead.previous, ahead.sealed_before, count(a.id) as entries,
           sha256(convert_to(coalesce(string_agg(
               concat_ws(' ', a.xid, (extract(epoch from a.at) * 1000000)::bigint, a.shard_id, a.id, a.tenant_id,
                   octet_length(a.actor), octet_length(a.action), octet_length(a.resource),
                   octet_length(a.detail::text))
               || e'\n' || a.actor || a.action || a.resource || a.detail::text || e'\n',
               '' order by a.xid, a.id), ''), 'UTF8')) as digest
    from ahead left join audit_log a on a.xid >= ahead.from_xid and a.xid < ahead.until_xid
    where ahead.from_xid < ahead.until_xid
    group by ahead.number, ahead.from_xid, ahead.until_xid, ahead.previous, ahead.sealed_before)
insert into audit_block (number, sealed_at, from_xid, until_xid, entries, digest, previous, hash)
select s.number, :now, s.from_xid, s.until_xid, s.entries, s.digest, s.previous,
       sha256(convert_to(concat_ws(' ', 'horae audit block', (select name from cell), s.number,
           (extract(epoch from :now::timestamptz) * 1000000)::bigint, s.from_xid, s.until_xid, s.entries,
           encode(s.digest, 'hex'), encode(s.previous, 'hex')), 'UTF8'))
from chained_rows s
where s.entries > 0 or s.sealed_before <= :idle_since
on conflict (number) do nothing
returning number, sealed_at, from_xid, until_xid, entries, digest, previous, hash
