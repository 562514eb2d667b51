-- :summary :first_page :last_page
-- Summarises whole ranges of pages that nobody writes to any more; those that are summarised already cost nothing.
select coalesce(sum(brin_summarize_range(:summary::text::regclass, n)), 0)
from generate_series(:first_page::bigint, :last_page::bigint, 128) n
