"""Tenants: create, widen, pause, remove, and where their names are."""
