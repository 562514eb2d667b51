"""Rolling sets: subjects that are refreshed in turn."""
