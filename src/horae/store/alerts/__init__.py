"""Alerts, their messages, and what the rules read."""
