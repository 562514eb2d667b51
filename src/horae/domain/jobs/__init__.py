"""Jobs: definitions, differences between versions, shadow jobs."""
