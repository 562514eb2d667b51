"""The commands, one file per noun. Each command calls the service and prints the answer."""
