-- Zero rows: no tenant was ever paused, and none is removed whose rows are still here.
select id, body -> 'held' ->> 'status' as status, (body -> 'held' ->> 'until')::timestamptz as until
from reference where kind = 'tenant' and body ? 'held'
