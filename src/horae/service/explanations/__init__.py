"""Explanations: why a job, a task or an instance has not run, and what it waits for."""
