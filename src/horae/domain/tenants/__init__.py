"""Tenants: the owners of jobs."""
