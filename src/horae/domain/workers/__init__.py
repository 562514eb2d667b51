"""The worker protocol, and the tokens that prove an attempt."""
