"""The HTTP API: requests become calls of `service`, and results become responses."""
