"""The worker protocol: long polls, claims, heartbeats and results."""
