"""Statements of shared limits, counts and holds."""
