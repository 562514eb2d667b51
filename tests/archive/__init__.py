"""The archive: its format, its targets, its duty, and what happens when something fails."""
