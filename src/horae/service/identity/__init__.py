"""Callers: API keys, role bindings, people and sessions."""
