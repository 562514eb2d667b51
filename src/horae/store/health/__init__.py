"""Statements of health: signals and backlog, and what PostgreSQL reports about itself."""
