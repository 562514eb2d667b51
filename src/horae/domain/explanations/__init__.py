"""Explanations: what can be said about a job, a task, a subject or an instance, and the sentences for it."""
