"""Lifecycle events, and the channels that carry them out and schedule changes in."""
