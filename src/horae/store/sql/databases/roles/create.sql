-- The name is ours, never a caller's. Whatever is not said is denied. With an empty password nobody logs in with one.
create role "{role}" login password '{verifier}'
