"""Measurements. `make bench NAME=store SECONDS=30` runs one and prints one JSON object as its last line."""
