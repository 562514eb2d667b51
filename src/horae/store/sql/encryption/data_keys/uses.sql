-- :prefix
-- Always a row. A key that was never wrapped again has revision 1.
select count(*) filter (where starts_with(k.wrapped, :prefix))::int as wrapped,
       max(k.changed_at) filter (where k.revision > 1) as rewrapped_at
from data_key k
