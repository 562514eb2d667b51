"""Principals, their roles, people and sessions."""
