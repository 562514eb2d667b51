"""Statements of the queues that workers claim from."""
