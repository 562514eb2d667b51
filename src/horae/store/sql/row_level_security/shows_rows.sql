-- The first pages of a table and of each of its partitions: what is hidden is hidden there, and a whole history would be
-- read for minutes. The names are ours. Rows of the nil tenant are nobody's.
select exists (
    select from "{table}"
    where ctid < '({pages},0)'::tid and "{column}" <> '00000000-0000-0000-0000-000000000000'::uuid)
