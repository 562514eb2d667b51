"""The outside world: how an attempt reaches its target."""
