"""Limits: rates, concurrency, counts, shares, and what they hold back."""
