"""The audit log: read it, and verify its hash chain."""
