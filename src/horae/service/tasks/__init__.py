"""Tasks: single, in batches, idempotent, and compensations."""
