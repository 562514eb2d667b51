"""Instances: their states, outcomes, retries, expiry, dead letters and searches."""
