-- Keeps its pages: giving them back takes a lock that stops everyone, and they are needed again at once.
vacuum (skip_locked, truncate off) instance_live
