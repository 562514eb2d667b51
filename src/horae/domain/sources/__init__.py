"""Sources: lists of pending tasks in a business system, and how they are compared with ours."""
