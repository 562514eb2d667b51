"""Statements of tasks, single and in batches, and of the relay of compensations."""
