"""Alerts: channels, rules, silences, and the alerts themselves."""
