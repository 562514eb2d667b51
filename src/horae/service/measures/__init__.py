"""Protective measures."""
