"""Moves of shards between four clusters under load, with a coordinator or a cluster killed at each step."""
