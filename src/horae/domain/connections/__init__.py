"""Connections to PostgreSQL: how a DSN is read, and how its connection is protected."""
