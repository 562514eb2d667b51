"""Drills: which fault may be caused where, and how long it took until all was well again."""
