"""Tasks: one intended time per business key, and compensations."""
