"""Counts, holds and the retry budget of a tenant."""
