"""Slow duties that keep the rows in shape: partitions ahead, copies of reference rows."""
