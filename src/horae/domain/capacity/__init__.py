"""How large a deployment must be, computed from what was measured."""
