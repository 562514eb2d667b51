"""Jobs: create, change, preview, compare versions, shadow."""
