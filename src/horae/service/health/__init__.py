"""Health, readiness and lateness."""
