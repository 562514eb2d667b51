-- migrate:up

-- A purged tenant has no rows left that could be held. Its copy says that it is gone, and no node reads it at every look
-- any more. At home first: the other cells get the copy as they get every change.
update reference r
set body = (r.body - 'held') || '{"purged": true}', version = r.version + 1, changed_at = now()
from tenant t
where r.kind = 'tenant' and r.id = t.id and t.purged_at is not null and r.body ? 'held';

-- migrate:down
update reference r
set body = (r.body - 'purged') || '{"held": {"status": "REMOVED", "until": null}}', version = r.version + 1, changed_at = now()
where r.kind = 'tenant' and r.body ? 'purged';
