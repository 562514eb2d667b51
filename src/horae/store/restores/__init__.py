"""Restored cells: their generations, and what a restore shut."""
