"""Statements of sources and repairs, and tables of other systems."""
