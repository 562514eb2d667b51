"""Drills, as far as rows are concerned: their load, what became of it, and their history."""
