"""Moves of shards from one cell to another."""
