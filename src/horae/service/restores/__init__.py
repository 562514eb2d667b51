"""Opens a restored cell, and decides about what the restore put in doubt."""
