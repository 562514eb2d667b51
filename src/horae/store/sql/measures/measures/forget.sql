-- :judged_before :now
-- Zero rows: every row says something.
delete from measure m
where m.level = 0 and m.over_minutes = 0 and m.judged_until < :judged_before
  and (m.override is null or (m.override ->> 'until')::timestamptz <= :now)
returning m.tenant_id
