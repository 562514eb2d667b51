"""Statements of nodes: leases, shards, scans, pulses and wakes."""
