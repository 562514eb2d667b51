"""Statements of API keys, role bindings and sessions."""
