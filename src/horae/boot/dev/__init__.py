"""`horae dev`: everything that is needed to try Horae, in one process."""
