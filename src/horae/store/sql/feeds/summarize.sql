-- Summarises whole ranges of pages that nobody writes to any more; those that are summarised already cost nothing.
select coalesce(sum(brin_summarize_range($1::text::regclass, n)), 0)
from generate_series($2::bigint, $3::bigint, 128) n
