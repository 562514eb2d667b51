"""Instances: trigger, search, cancel, retry, replay."""
