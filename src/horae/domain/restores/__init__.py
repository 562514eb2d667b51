"""Restored cells: which database is the cell of today, and what a restore puts in doubt."""
