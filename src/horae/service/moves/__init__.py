"""Moves of shards, as people ask for them."""
