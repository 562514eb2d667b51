"""Statements of tenants: rows, references, widenings and purges."""
