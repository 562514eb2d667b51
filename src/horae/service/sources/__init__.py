"""Sources: compare lists with our tasks, and repair the differences."""
