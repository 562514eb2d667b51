"""The routes, one room per noun. Each names its action; nothing here decides anything."""
