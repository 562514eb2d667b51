-- A detached day is no longer reached through its parent, whose policies it used. Only its owner may read it.
alter table "{partition}" no force row level security, disable row level security
