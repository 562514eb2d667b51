-- The name is ours, never a caller's. Whoever created the role may grant it, also to itself.
grant "{owner}" to current_user
