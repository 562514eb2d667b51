"""Statements about a database as a whole: clock, partitions, vacuum, creation."""
