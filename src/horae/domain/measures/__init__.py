"""Protective measures: what the scheduler withholds by itself while a signal is beyond its line."""
