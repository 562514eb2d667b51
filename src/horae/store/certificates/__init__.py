"""Statements about certificates."""
